/* Watches the calls by which a process changes files below one folder: a library for LD_PRELOAD.
 *
 * soak_watch(mode, at, root, log): COUNT counts the calls, KILL ends the process before call `at`, FAIL lets
 * call `at` fail with an error, FAIL_ON lets it and all later ones fail, RECORD writes each call to `log`.
 * soak_mark writes a line of the caller's into the record; soak_calls returns the count.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

enum { OFF, COUNT, KILL, FAIL, FAIL_ON, RECORD };

static int mode = OFF, error_number = EIO, record_fd = -1;
static long calls = 0, last = 0;
static char root[PATH_MAX];
static size_t root_length = 0;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

void soak_watch(int new_mode, long at, int error, const char *new_root, const char *log) {
    mode = OFF;
    strncpy(root, new_root, sizeof root - 1);
    root_length = strlen(root);
    last = at;
    error_number = error;
    calls = 0;
    if (new_mode == RECORD)
        record_fd = (int)syscall(SYS_openat, AT_FDCWD, log, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    mode = new_mode;
}

long soak_calls(void) { return calls; }

static void put(const void *data, size_t size) {
    const char *rest = data;
    while (size > 0) {
        ssize_t done = syscall(SYS_write, record_fd, rest, size);
        if (done <= 0) _exit(99);
        rest += done;
        size -= (size_t)done;
    }
}

/* One record: kind, inode, offset, lengths, then the two strings. */
static void record(char kind, uint64_t inode, int64_t offset, const char *name, const void *data, size_t size) {
    struct { char kind[8]; uint64_t inode; int64_t offset; uint64_t name_size, size; } head = {{kind}, inode, offset,
        name ? strlen(name) : 0, size};
    int kept = errno;
    pthread_mutex_lock(&lock);
    put(&head, sizeof head);
    if (name) put(name, strlen(name));
    if (size) put(data, size);
    pthread_mutex_unlock(&lock);
    errno = kept;
}

void soak_mark(const char *line) {
    if (mode == RECORD) record('m', 0, 0, line, NULL, 0);
}

/* The index of a log is mapped memory that SQLite builds again: what happens to it does not matter. */
static int below(const char *path) {
    size_t size = strlen(path);
    return strncmp(path, root, root_length) == 0 && (path[root_length] == '/' || path[root_length] == 0)
        && !(size > 4 && strcmp(path + size - 4, "-shm") == 0);
}

static int named(int folder, const char *path, char *whole) {
    if (mode == OFF || path == NULL) return 0;
    if (path[0] == '/') snprintf(whole, PATH_MAX, "%s", path);
    else {
        char at[64], base[PATH_MAX];
        snprintf(at, sizeof at, folder == AT_FDCWD ? "/proc/self/cwd" : "/proc/self/fd/%d", folder);
        ssize_t size = readlink(at, base, sizeof base - 1);
        if (size < 0) return 0;
        base[size] = 0;
        snprintf(whole, PATH_MAX, "%.2000s/%.2000s", base, path);
    }
    return below(whole);
}

static uint64_t opened(int fd) {
    if (mode == OFF || fd == record_fd) return 0;
    char at[64], path[PATH_MAX];
    int kept = errno;
    snprintf(at, sizeof at, "/proc/self/fd/%d", fd);
    ssize_t size = readlink(at, path, sizeof path - 1);
    errno = kept;
    if (size < 0) return 0;
    path[size] = 0;
    struct stat state;
    if (!below(path) || fstat(fd, &state) != 0) return 0;
    return state.st_ino;
}

static uint64_t inode_of(const char *path) {
    struct stat state;
    int kept = errno;
    int missing = lstat(path, &state);
    errno = kept;
    return missing ? 0 : state.st_ino;
}

/* Count a call; true when it must fail. */
static int fails(void) {
    if (mode == OFF) return 0;
    long number = __atomic_add_fetch(&calls, 1, __ATOMIC_SEQ_CST);
    if (mode == KILL && number == last) {
        kill(getpid(), SIGKILL);
        pause();
    }
    if ((mode == FAIL && number == last) || (mode == FAIL_ON && number >= last)) {
        errno = error_number;
        return 1;
    }
    return 0;
}

static int open_counted(int folder, const char *path, int flags, mode_t bits) {
    char whole[PATH_MAX];
    int creates = flags & (O_CREAT | O_TRUNC) && named(folder, path, whole);
    uint64_t before = creates ? inode_of(whole) : 0;
    if (creates && (!before || flags & O_TRUNC) && fails()) return -1;
    int fd = (int)syscall(SYS_openat, folder, path, flags, bits);
    if (fd >= 0 && creates && mode == RECORD) {
        uint64_t inode = inode_of(whole);
        if (!before) record('c', inode, 0, whole, NULL, 0);
        else if (flags & O_TRUNC) record('t', inode, 0, NULL, NULL, 0);
    }
    return fd;
}

#define OPEN(name) \
    int name(const char *path, int flags, ...) { \
        va_list more; va_start(more, flags); \
        mode_t bits = flags & (O_CREAT | O_TMPFILE) ? va_arg(more, mode_t) : 0; va_end(more); \
        return open_counted(AT_FDCWD, path, flags, bits); }
#define OPENAT(name) \
    int name(int folder, const char *path, int flags, ...) { \
        va_list more; va_start(more, flags); \
        mode_t bits = flags & (O_CREAT | O_TMPFILE) ? va_arg(more, mode_t) : 0; va_end(more); \
        return open_counted(folder, path, flags, bits); }
OPEN(open)
OPEN(open64)
OPENAT(openat)
OPENAT(openat64)

#define PWRITE(name) \
    ssize_t name(int fd, const void *data, size_t size, off_t offset) { \
        uint64_t inode = opened(fd); \
        if (inode && fails()) return -1; \
        ssize_t done = REAL(name)(fd, data, size, offset); \
        if (inode && done > 0 && mode == RECORD) record('w', inode, offset, NULL, data, (size_t)done); \
        return done; }
PWRITE(pwrite)
PWRITE(pwrite64)

ssize_t write(int fd, const void *data, size_t size) {
    uint64_t inode = opened(fd);
    if (inode && fails()) return -1;
    ssize_t done = REAL(write)(fd, data, size);
    if (inode && done > 0 && mode == RECORD) {
        int kept = errno;
        record('w', inode, lseek(fd, 0, SEEK_CUR) - done, NULL, data, (size_t)done);
        errno = kept;
    }
    return done;
}

#define TRUNCATE(name) \
    int name(int fd, off_t size) { \
        uint64_t inode = opened(fd); \
        if (inode && fails()) return -1; \
        int failed = REAL(name)(fd, size); \
        if (inode && !failed && mode == RECORD) record('t', inode, size, NULL, NULL, 0); \
        return failed; }
TRUNCATE(ftruncate)
TRUNCATE(ftruncate64)

#define SYNC(name) \
    int name(int fd) { \
        uint64_t inode = opened(fd); \
        if (inode && fails()) return -1; \
        int failed = REAL(name)(fd); \
        if (inode && !failed && mode == RECORD) { \
            struct stat state; \
            record(fstat(fd, &state) == 0 && S_ISDIR(state.st_mode) ? 'd' : 's', inode, 0, NULL, NULL, 0); } \
        return failed; }
SYNC(fsync)
SYNC(fdatasync)

static int two_names(char kind, int from, const char *old, int to, const char *new, int failed) {
    char whole[PATH_MAX], other[PATH_MAX];
    if (!failed && mode == RECORD && named(from, old, whole) && named(to, new, other))
        record(kind, inode_of(other), 0, whole, other, strlen(other));
    return failed;
}

static int counts(int from, const char *old) {
    char whole[PATH_MAX];
    return named(from, old, whole) && fails();
}

int rename(const char *old, const char *new) {
    if (counts(AT_FDCWD, old)) return -1;
    return two_names('r', AT_FDCWD, old, AT_FDCWD, new, REAL(rename)(old, new));
}

int renameat(int from, const char *old, int to, const char *new) {
    if (counts(from, old)) return -1;
    return two_names('r', from, old, to, new, REAL(renameat)(from, old, to, new));
}

int link(const char *old, const char *new) {
    if (counts(AT_FDCWD, old)) return -1;
    return two_names('l', AT_FDCWD, old, AT_FDCWD, new, REAL(link)(old, new));
}

int linkat(int from, const char *old, int to, const char *new, int flags) {
    if (counts(from, old)) return -1;
    return two_names('l', from, old, to, new, REAL(linkat)(from, old, to, new, flags));
}

int unlink(const char *path) {
    char whole[PATH_MAX];
    int ours = named(AT_FDCWD, path, whole);
    if (ours && fails()) return -1;
    int failed = REAL(unlink)(path);
    if (ours && !failed && mode == RECORD) record('u', 0, 0, whole, NULL, 0);
    return failed;
}

int unlinkat(int folder, const char *path, int flags) {
    char whole[PATH_MAX];
    int ours = named(folder, path, whole);
    if (ours && fails()) return -1;
    int failed = REAL(unlinkat)(folder, path, flags);
    if (ours && !failed && mode == RECORD) record('u', 0, 0, whole, NULL, 0);
    return failed;
}

/* Copies without a buffer would pass by the record: the caller then copies by read and write. */
ssize_t sendfile(int to, int from, off_t *offset, size_t size) {
    (void)to, (void)from, (void)offset, (void)size;
    errno = ENOTSOCK;
    return -1;
}

ssize_t sendfile64(int to, int from, off64_t *offset, size_t size) {
    (void)to, (void)from, (void)offset, (void)size;
    errno = ENOTSOCK;
    return -1;
}
