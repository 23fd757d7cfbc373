"""What `scrubjay.text.languages` knows of each language: function words | common words | endings | letters.

Function words (articles, pronouns, prepositions, conjunctions, auxiliaries, question words) are also
the stop words; one that ends in an apostrophe stands joined to the next word (l'homme). Common words
tell a language, but a query may be about them. Endings are three or four letters. Letters are those
that not every language of the script writes with; a text that has one is hardly in a language without.
"""

from __future__ import annotations

LANGUAGES = {
    "en": """the of and to a in is it that was for on are with as be this by at from or have not they which
    but what were when we there can an your if will their how do who where why does did you has had been
    would could should into than then its about these those no any may must only i he she his her my our
    please also other some such more t s don doesn | use used using make made find show work year years day
    time people name number page file user users value password system language new good first last many
    example help city country world enter select change add delete valid get set run between because found
    available required allowed date list content text data search word words field given string error
    server code store query write read call type | ing tion ness ould ight ough ally able ful""",
    "de": """der die das und ist nicht ein eine einer einen einem eines zu den dem des mit sich auf für von
    im in es ich sie er wir ihr auch als an nach wie was wer wo warum wann welche welcher welches aus bei
    oder aber wenn dass werden wird wurde wurden sind war hat haben kann können soll muss nur noch durch
    über zum zur vom kein keine sein seine ihre diese dieser dieses zwischen unter bis so man hier mehr
    gibt bitte am um | benutzer zeit jahr jahre tag menschen zahl seite datei wert passwort sprache neu
    neue neuen gut erste ersten letzte viele beispiel hilfe stadt land welt eingeben auswählen ändern
    hinzufügen löschen gültig gültige gültigen finden macht machen zeigen arbeit verwenden ja nein ohne
    etwas heißt bereits mehrere sowie anzahl wort datum uhrzeit liste inhalt text daten suche wörter feld
    fehler befehl verzeichnis archiv dateien führe zeige erstelle lösche | ung lich keit heit isch chen tig
    eren | äöüß""",
    "fr": """le la les de des du et est un une dans que qui pour pas sur au aux par avec ce cette ces il
    elle nous vous ils je ne se sa son ses plus ou où mais comme sont être été avoir fait quel quelle quels
    quelles quand comment pourquoi leur leurs sans entre aussi même peut doit si tout tous toute depuis
    après avant chez dont votre vos était y on en l' d' qu' s' n' c' j' m' jusqu' lorsqu' aucun quelques
    certains | utiliser faire trouver afficher travail année ans jour temps gens personnes nom nombre page
    fichier utilisateur valeur passe système langue nouveau nouvelle bon premier première dernier exemple
    aide ville pays monde saisissez saisir choisir modifier ajouter supprimer valide oui non aucune chaque
    deux champ moins mot date heure site liste contenu formulaire mots | tion ment eux aux ette ique eurs
    sion ées ité | àâæçéèêëîïôœùûüÿ""",
    "es": """el la los las de del y en que un una es no se por con para su sus al lo como más pero qué cuál
    cuáles cómo cuándo dónde quién quiénes cuánto cuántos está están son fue fueron ser hay este esta estos
    estas ese esa o si ya muy también entre sobre sin desde hasta cuando donde porque ha han había le les
    nos mi tu yo ella ellos usted puede debe nuestro e algún algunos esto eso tiene tienen | usar hacer
    encontrar mostrar trabajo año años día tiempo gente personas nombre número página archivo usuario valor
    contraseña sistema idioma lengua nuevo nueva bueno primero primera último ejemplo ayuda ciudad país
    mundo introduzca ingrese seleccionar cambiar añadir eliminar válido válida sí cada dos mayor menos
    ningún ninguna todos todas otro otra mismo campo palabra fecha hora sitio fichero lista contenido
    formulario debería | ción dad ando aje ados idad | áéíñóúü""",
    "it": """il lo la i gli le di del della dei degli delle dello e è in che un una uno non si per con da
    dal dalla al alla ai alle nel nella nei nelle sul sulla sono come più ma anche cosa chi quando dove
    perché quale quali quanto quanti questo questa questi queste suo sua loro essere stato stata ha hanno
    era o se su tra fra ci può deve fatto dopo prima senza ogni io noi voi l' dell' all' nell' un' d' c'
    dall' sull' quest' alcuni alcune | usare fare trovare mostrare lavoro anno anni giorno tempo gente
    persone nome numero pagina file utente valore parola sistema lingua nuovo nuova buono primo ultimo
    esempio aiuto città paese mondo inserire inserisci selezionare scegli modificare aggiungere eliminare
    valido valida sì no nessun nessuna due maggiore meno tutti tutte altro altra stesso campo data ora sito
    elenco contenuto modulo | ità ando endo are ere ggio zza | àèéìòù""",
    "pt": """o a os as de do da dos das e em no na nos nas que um uma não se por para com ao aos à às é são
    foi foram ser está estão como mais mas quem qual quais quando onde porquê porque quanto quantos este
    esta isto isso esse essa ele ela eles elas seu sua seus suas já muito também entre sobre sem até pelo
    pela pelos pelas num numa tem têm há pode deve você eu nós ou depois | usar fazer encontrar mostrar
    trabalho ano anos dia tempo gente pessoas nome número página arquivo ficheiro utilizador usuário valor
    senha sistema língua novo nova bom primeiro primeira último exemplo ajuda cidade país mundo introduza
    insira selecionar escolher alterar adicionar excluir válido válida sim cada dois maior menos nenhum
    nenhuma todos todas outro outra mesmo campo palavra passe mudança data hora sítio lista conteúdo | ção
    ções dade ando endo ões ável | ãáâàçéêíóôõú""",
    "nl": """de het een en van is dat die in te niet op zijn met voor aan er om ook als maar bij naar uit
    door over tot wordt worden werd kan kunnen moet heeft hebben had was waren wat wie waar wanneer waarom
    hoe welke dit deze ik je jij hij zij ze we wij u uw hun haar mijn ons geen nog meer dan of omdat tussen
    onder zonder zo wel alleen pas terug zou zal zullen weer toch al heel ben bent dus | gebruiken gebruik
    maken vinden tonen werk jaar jaren dag tijd mensen naam nummer getal pagina bestand gebruiker waarde
    wachtwoord systeem taal nieuw nieuwe goed eerste laatste veel voorbeeld hulp stad land wereld voer kies
    selecteer wijzigen toevoegen verwijderen geldig geldige ja nee iets elk andere beide hoeveel mag uur
    komt gaat doen steeds | ijk lijk heid ing aar oor eren sch ijn aan | éëïóö""",
    "sv": """och att det är en ett som på för av med den till inte om har de i var vad vem när hur varför
    vilken vilket vilka jag du han hon vi ni man sig från kan ska skall eller men så nu där här också efter
    vid under mellan mot utan över ut upp bara mycket blir blev vara varit hade hans hennes deras denna
    detta dessa sin sitt sina alla någon något några måste din ditt dina er mig dig mer mest blivit kunna
    vill vårt alltid ännu inget | använda använd göra hitta visa arbete år dag tid människor namn nummer
    tal sida sidan fil användare värde lösenord system språk ny nytt nya bra första sista många exempel
    hjälp stad land värld välj fyll ändra ändrade lägg ta bort giltig giltigt ingen inga ja nej finns samma
    annan andra redan endast minst högst värden fält spara vecka månad tillsammans igen webbplats gång
    nuvarande saknas ogiltig ogiltigt | ning het lig ade ing arna aren ligt | åäöé""",
    "da": """og at det er en et som på for af med den til ikke om har de i var hvad hvem hvornår hvordan
    hvorfor hvor hvilken hvilket hvilke jeg du han hun vi man sig fra kan skal eller men så nu der her også
    efter ved under mellem mod uden over ud op kun meget bliver blev blive være været havde hans hendes
    deres denne dette disse sin sit sine alle nogen noget nogle må din dit dine mig dig ingen eftersom
    kunne mere mest blevet ville vores jer én endnu altid | bruge bruger brugt brug gøre gør sige siger år
    dag tid mennesker navn nummer tal side siden fil værdi adgangskode system sprog ny nyt nye god første
    sidste mange eksempel hjælp by land verden indtast vælg ændre ændret tilføj slet gyldig gyldigt gyldige
    intet inget ja nej findes samme anden andre andet hvis allerede mindst højst dog tage jeres venligst
    ugyldig feltet værdien værdier felt oprette ændringer gemme vælge uge måned sammen igen hjemmeside gang
    skift nuværende mangler ugyldigt | hed else ning ede lig erne ligt eret | æøåé""",
    "no": """og at det er en et ei som på for av med den til ikke ikkje om har de i var hva kva hvem kven
    når hvordan korleis hvorfor hvor kor hvilken hvilket hvilke jeg eg du han hun ho vi man seg fra frå kan
    skal eller men så nå der her også etter ved under mellom mot uten utan over ut opp bare mye blir ble
    bli være vere vært hadde hans hennes deres denne dette disse sin sitt sine alle noen noe nokon noko må
    din ditt dine meg deg ein eit dei vart å mer mest blitt kunne ville vårt dere dem ennå alltid mange |
    bruke bruker brukt bruk gjøre gjør si sier år dag tid mennesker folk navn namn nummer tall side siden
    sida fil verdi passord system språk ny nytt nye god første siste eksempel hjelp by land verden skriv
    inn velg endre endret legg slett gyldig gyldige ingen ja nei finnes finst samme annen andre annet hvis
    allerede minst høyst ta våre vennligst ugyldig feltet vel berre verdien verdier felt opprette endringer
    lagre velge uke måned sammen igjen nettsted nettside gang oppgi nåværende mangler ugyldige informasjon
    | het else ning lig ene ligt sjon | æøåéòôó""",
    "fi": """ja on ei se että en ole oli hän joka mutta kun niin kuin tai myös ovat olla ollut mitä mikä
    missä milloin miksi miten kuka ketkä kuinka tämä tämän nämä näitä ne sen sitä jos vain sekä mukaan
    jälkeen ennen kanssa vielä jo nyt siitä sitten koska voi voidaan pitää täytyy minä sinä me te he hänen
    heidän niiden joiden jonka jossa joita kaikki kaikkien eivät eikä olisi ilman noin yli vasta aina usein
    taas jopa tässä siinä tuo sille minun sinun meidän teidän ovatko onko joku jotka | käyttää tehdä löytää
    näytä työ vuosi vuonna vuotta päivä aika aikana ihmiset nimi numero sivu sivua tiedosto käyttäjä arvo
    salasana järjestelmä kieli uusi hyvä ensimmäinen viimeinen monta esimerkki apua kaupunki maa maailma
    syötä anna valitse muuta lisää poista kyllä yksi kaksi muut tällä tätä oikea enintään vähintään kelpaa
    jokin tulee kello menee lähtee | nen sta ssa ssä lla llä sti sen mis tta ään iin uus | äöå""",
    "hu": """a az és hogy nem is egy van volt meg csak de ha ez ezt azt mint már még vagy aki ami amely ki
    mi mit hol mikor miért hogyan milyen melyik mennyi hány én te ő ti ők nincs lesz lehet kell után előtt
    között alatt szerint által minden sem nagyon majd most itt ott akkor ezek azok kérem legyen lett voltak
    ezért pedig illetve valamint | használ használata találni munka év évek nap idő ember emberek név neve
    szám oldal fájl felhasználó érték jelszó rendszer nyelv új jó első utolsó sok példa segítség város
    ország világ adja válasszon módosítás hozzáadás törlés érvényes érvénytelen igen két mezőt több
    kevesebb legalább legfeljebb ilyen olyan olvasható | ság ség nak nek ban ben val vel tás tés ott ett |
    áéíóöőúüű""",
    "ro": """și de la în a cu pe care nu este un o din pentru să se că mai sunt au fost ce cum când unde
    cine câte câți cât cărui dacă sau dar prin după până între fără fi al ale ai lui ei lor acest această
    aceste acești acel ea el noi voi eu tu am are avea avut foarte doar numai tot toate poate trebuie
    despre către îi îl le ne vă sa său câteva | folosi face găsi arată muncă an ani anul zi timp oameni
    nume număr pagină pagina fișier utilizator valoare valoarea parola parolă sistem limbă nou nouă bun
    primul prima ultimul exemplu ajutor oraș țară lume introduceți selectați modifica adăuga șterge valid
    validă da două mulți mult fiecare niciun nicio acestui acestei fie cuvânt dată oră site listă conținut
    | ului elor ilor ție ții are ează ește | ăâîșțşţ""",
    "cs": """a je v na se že to s z do o i k za pro ve ale jako po od si jsou by tak nebo jen jeho který
    která které kteří není byl byla bylo byly co kdo kde kdy jak proč jaký jaká jaké kolik když až už ještě
    také této tento tato toto tyto jsem jste jsme mezi před pod nad při bez podle může musí být má mají než
    u ze ke aby pokud však její jejich | použít použití dělat najít zobrazit práce rok roku let den čas
    lidé lidí jméno název číslo stránka stránku soubor uživatel uživatele hodnota hodnotu heslo systém
    jazyk nový nová nové dobrý první poslední mnoho příklad pomoc město země svět zadejte vyberte změnit
    přidat odstranit platný platnou platné ano ne dva více méně každý všechny některé nelze dobře | ost
    ního ných ání ení ové ými ého | áčďéěíňóřšťúůýž""",
    "sk": """a je v na sa že to s z do o i k za pre vo ale ako po od si sú by tak alebo len jeho ktorý
    ktorá ktoré ktorí nie bol bola bolo boli čo kto kde kedy prečo aký aká aké koľko keď až už ešte aj tiež
    táto tento toto tieto som ste sme medzi pred pod nad pri bez podľa môže musí byť má majú než u zo ku
    aby ak však jej ich ktorej ktorého tejto tohto | použiť použitie robiť nájsť zobraziť práca rok roku
    rokov deň čas ľudia ľudí meno názov číslo stránka stránku súbor používateľ používateľa hodnota hodnotu
    heslo systém jazyk nový nová nové dobrý prvý posledný mnoho príklad pomoc mesto krajina svet zadajte
    vyberte zmeniť pridať odstrániť platný platnú platné áno dva viac menej každý všetky niektoré dobre |
    osť ného ných anie enie ové ými ého osti | áäčďéíĺľňóôŕšťúýž""",
    "pl": """i w na z się nie to jest do że o a jak po co ale dla od za czy przez tylko tym jego jej są był
    była było były który która które których kto gdzie kiedy dlaczego jaki jaka jakie ile gdy już jeszcze
    także też oraz lub albo być może można ten ta te tego tej tych jako ma mają mnie mi ze przy pod nad
    przed między bez aby żeby jeśli ich my wy on ona oni ja ty | użyć używać robić znaleźć pokazać praca
    rok roku lat dzień czas ludzie ludzi nazwa liczba strona stronę plik użytkownik użytkownika wartość
    hasło system język nowy nowa nowe dobry pierwszy ostatni wiele przykład pomoc miasto kraj świat
    wprowadź podaj wybierz zmień zmienić dodaj usuń poprawny poprawną tak dwa więcej mniej każdy wszystkie
    musi jeden został pole | ość ego nych anie enie owe ych ami ści cji | ąćęłńóśźż""",
    "hr": """i je u na se da su za od s a o iz koji koja koje nije bio bila bilo biti kao ili ali što tko
    gdje kada zašto kako koliko kakav ovaj ova ovo taj ta to te po do uz kod pri prije poslije nakon između
    zbog bez već još samo također može mogu mora treba sam si smo ste njegov njezin njihov sve svi svih ako
    jer kad tijekom ovdje uvijek uvjet nešto netko nisu neki vaš vaša vaše vas bi li će | koristiti koristi
    raditi pronaći prikaži rad godina godine dan vrijeme ljudi ime broj stranica stranicu datoteka korisnik
    vrijednost lozinka lozinku sustav jezik novi nova novo dobar prvi posljednji mnogo primjer pomoć grad
    zemlja svijet unesite odaberite izaberite promijeni dodaj obriši ispravan ispravnu valjan ne dva više
    manje svaki postoji mjesto dio cijeli bijelo dvije sljedeći unijeti izmijeni korisnici uspješno
    promjena promjene provjeri provjerite slijedi mjesec tjedan tisuća općina obitelj sučelje molimo
    promjenu izmjena izmjene sljedećih | ost nog nih anje enje oga ima nje | čćđšž""",
    "sr": """i je u na se da su za od s sa a o iz koji koja koje nije bio bila bilo biti kao ili ali šta
    što ko gde kada zašto kako koliko kakav ovaj ova ovo taj ta to te po do uz kod pri pre posle nakon
    između zbog bez već još samo takođe može mogu mora treba sam si smo ste njegov njen njihov sve svi svih
    ako jer kad tokom ovde uvek nešto neko и је у на се да су за од са а о из који која које није био била
    било бити као или али шта што ко где када зашто како колико какав овај ова ово тај та то те по до уз
    код при пре после након између због без већ још само такође може могу мора треба сам си смо сте његов
    њен њихов све сви ако јер кад током овде увек nisu neki vaš vaša vaše vas bi li će нису неки ваш ваша
    ваше вас би ли ће имати можете морате ни | koristiti koristi raditi pronaći prikaži rad godina godine
    dan vreme ljudi ime broj stranica stranu datoteka korisnik vrednost lozinka lozinku sistem jezik novi
    nova novo dobar prvi poslednji mnogo primer pomoć grad zemlja svet unesite izaberite odaberite promeni
    dodaj obriši ispravan ispravnu ne dva više manje svaki postoji mesto deo celi belo dve sledeći uneti
    izmeni не користити ради рад година године дан време људи име број страница датотека корисник вредност
    лозинка лозинку лозинке систем језик нови нова ново добар први последњи много пример помоћ град земља
    свет унесите изаберите промени додај обриши исправан исправну два више мање сваки постоји место део
    поље садржи бисте uspešno promena promene proveri proverite sledi mesec nedelja hiljada opština
    porodica fajl molimo izmena izmene sledećih успешно промена промене провери следи месец недеља хиљада
    молимо измена измене фајл сајт stranicu korisnici уколико | ost nog nih anje enje oga ima nje |
    иђјљњћџčćđšž""",
    "sl": """in je v na se da so za od s z o iz ki ni bil bila bilo bili biti kot ali pa ne kaj kdo kje
    kdaj zakaj kako koliko kakšen kakšna kateri katera katero ta to te po do ob pri pred med nad pod zaradi
    brez še že samo tudi lahko mora sem si smo ste njegov njen njihov vse vsi če ker ko tega tem teh ter
    niso kar h k tako bolj naj jih kakšno nekaj nekateri vaš vaša vaše vas bi boste bo najmanj | uporabiti
    uporabnik delati najti prikaži delo leto leta let dan čas ljudje ljudi ime število stran datoteka
    vrednost geslo sistem jezik nov nova novo dober prvi zadnji veliko primer pomoč mesto država svet
    vnesite izberite spremeni spremeniti dodaj izbriši veljaven veljavno veljavna ja dva več manj vsak vsaj
    največ morate polje bodo bomo nima ima uspešno sprememba spremembe mesec teden tisoč občina družina
    prosimo | ost nega nih anje enje ega imi jem | čšž""",
    "lt": """ir yra į iš kad su ne tai buvo bet kaip ar apie po už nuo iki per prie pas tarp dėl be prieš
    kas kur kada kodėl kiek koks kokia kokie kuris kuri kurie kurį kurių aš tu jis ji mes jūs jie jos jo jų
    jį ją šis ši šie šio šią šios tas ta tie to tik taip pat dar jau labai gali turi būti būtų nėra arba
    nes jei jeigu kai visi visų savo daugiau metu | naudoti daryti rasti rodyti darbas metai metų diena
    laikas žmonės vardas pavadinimas skaičius puslapis failas vartotojas vartotojo naudotojas reikšmė
    slaptažodis sistema kalba naujas gerai pirmas paskutinis daug pavyzdys pagalba miestas šalis pasaulis
    įveskite pasirinkite pakeisti pridėti ištrinti tinkamą teisingą du mažiau kiekvienas reikia neteisingas
    | imas ymas ius iai tojo ėti yti amas | ąčęėįšųūž""",
    "lv": """un ir uz no ar ka kas par kā lai bet pie pēc līdz starp bez zem virs pirms caur tas tā tie tās
    to šis šī šie šo kur kad kāpēc cik kāds kāda kādi kurš kura kuri es tu viņš viņa mēs jūs viņi nav bija
    būt var vai tikai arī jau vēl ļoti ja tad jo savu sava visi visas tiek tika bijis gan nevar jābūt lūdzu
    kuru nekā šajā | lietot darīt atrast rādīt darbs gads gada gadā diena laiks cilvēki vārds nosaukums
    skaits lapa fails lietotājs lietotāja vērtība parole sistēma valoda jauns jauna labs pirmais pēdējais
    daudz piemērs palīdzība pilsēta valsts pasaule ievadiet izvēlieties mainīt pievienot dzēst derīgu
    derīgs pareizu jā nē divi vairāk mazāk katrs ievadi | šana ums iem ība ības ajam | āčēģīķļņšūž""",
    "et": """ja on ei see et oli kui ka mis kes kus millal miks kuidas mitu milline millised oma aga või
    ning ta ma sa me te nad tema minu sinu meie teie nende selle seda need neid mida kelle pärast enne koos
    ilma kohta järgi juurde vahel üle alla kõik kogu veel juba väga ainult siis olla olid pole peab võib
    saab ole mille palun nii nagu sest alles ise siin seal kuni tagasi sellest mitte | kasutada kasutaja
    teha leida näita töö aasta aastal päev aeg inimesed nimi arv number lehekülg leht fail väärtus parool
    süsteem keel uus hea esimene viimane palju näide abi linn riik maailm sisesta sisestage vali valige
    muuda lisa kustuta korrektne kehtiv jah kaks rohkem vähem iga ühtegi peate üks mõni samuti kell uue
    pikk tuleb | mine mise tud sse dud ikud del ste | äõöüšž""",
    "tr": """ve bir bu da de için ile ne o olarak çok daha gibi en kadar var yok mi mı mu mü değil ama veya
    ya ki hangi nasıl neden niçin nerede kim kaç zaman olan oldu olduğu olması eden sonra önce göre karşı
    her hiç ben sen biz siz onlar onun bunun şu şey tarafından arasında üzerinde içinde lütfen ise hem
    çünkü eğer değildir vardır | kullanmak kullanın yapmak bulmak göster iş yıl yılında gün insanlar insan
    ad adı sayı sayısı sayfa dosya kullanıcı değer değeri parola şifre sistem dil yeni iyi ilk son birçok
    örnek yardım şehir ülke dünya girin gir seçin değiştir ekle sil geçerli geçersiz evet hayır iki az
    bütün tüm başka aynı bulunan edildi olmalıdır olamaz | lar ler dır dir lik lık ını ini mak mek |
    çğıöşüâî""",
    "id": """yang dan di ke dari untuk dengan ini itu pada adalah tidak dalam akan oleh sebagai juga atau
    bisa dapat telah sudah karena bahwa seperti ada saya anda kamu kami kita mereka ia dia apa siapa mana
    kapan bagaimana mengapa kenapa berapa lebih hanya saat agar jika maka tetapi namun setelah sebelum
    antara para secara silakan harus belum masih sangat bagi tentang yaitu sebuah bukan saja pun tanpa
    paling sedang tersebut setiap apakah melalui sekarang | menggunakan gunakan membuat menemukan tampilkan
    kerja pekerjaan tahun hari waktu orang nama nomor angka halaman berkas pengguna nilai sandi sistem
    bahasa baru baik pertama terakhir banyak contoh bantuan kota negara dunia masukkan pilih ubah tambah
    hapus valid benar ya dua kurang semua lain sama beberapa perlu terlalu memiliki bidang kolom coba uang
    pastikan laman kosong bilangan jumlah sah mencari situs ukuran huruf karakter berhasil tetap data
    dibuat mengandung daftar mungkin | kan nya lah""",
    "ms": """yang dan di ke dari untuk dengan ini itu pada adalah ialah tidak dalam akan oleh sebagai juga
    atau boleh telah sudah kerana bahawa seperti ada saya anda awak kami kita mereka ia dia apa siapa mana
    bila bagaimana mengapa kenapa berapa lebih hanya sahaja agar jika maka tetapi namun selepas sebelum
    antara para secara sila perlu hendaklah belum masih sangat bagi tentang iaitu daripada kepada mestilah
    sebuah bukan pun tanpa paling sedang tersebut setiap adakah melalui sekarang | menggunakan gunakan
    membuat mencari paparkan kerja tahun hari masa waktu orang nama nombor angka halaman laman fail
    pengguna nilai laluan sistem bahasa baru baik pertama terakhir banyak contoh bantuan bandar negara
    dunia masukkan pilih ubah tambah hapus padam sah betul ya dua kurang semua lain sama beberapa terlalu
    mempunyai medan cuba wang pastikan ruangan tarikh kosong jumlah ukuran huruf aksara karakter data
    dibuat mengandungi senarai tapak berjaya mungkin sekurang kurangnya dipilih | kan nya lah""",
    "vi": """là và của có không được các những một cho người trong đã với này đó để khi từ đến thì mà như
    nhưng về tại bởi vì nếu hay hoặc ai gì đâu nào sao bao nhiêu thế ra vào lên trên dưới sau trước cũng
    chỉ còn rất phải nên sẽ đang bị do theo hơn nhất tôi bạn anh chị họ chúng nó vui lòng | sử dụng làm tìm
    hiển thị việc năm ngày thời gian tên số trang tệp dùng giá trị mật khẩu hệ thống ngôn ngữ mới tốt đầu
    cuối nhiều ví dụ giúp thành phố nước giới nhập chọn thay đổi thêm xóa hợp lệ hai ít mỗi khác | |
    àáâãèéêìíòóôõùúýăđĩũơưạảấầẩẫậắằẳẵặẹẻẽếềểễệỉịọỏốồổỗộớờởỡợụủứừửữựỳỵỷỹ""",
    "ca": """el la els les de del dels i en que un una és no es per amb al als com més però què quin quina
    quins quines quan on qui quant quants està són va van ser hi ha aquest aquesta aquests aquestes o si ja
    molt també entre sobre sense des fins perquè han havia li ens seu seva seus seves jo tu ella ells pot
    cal només ho altres aquí l' d' s' n' m' algun alguns | fer trobar mostrar treball any anys dia temps
    gent persones nom nombre pàgina fitxer usuari valor contrasenya sistema idioma llengua nou nova bo
    primer primera últim exemple ajuda ciutat país món introduïu introdueix seleccioneu seleccionar canviar
    afegir eliminar vàlid vàlida sí cada dos major menys cap tots totes altre altra mateix camp té tenen
    ésser fet paraula data hora lloc llista contingut formulari assegureu | ció tat ment itat eix ats |
    àçèéíïòóúü""",
    "gl": """o a os as de do da dos das e en no na nos nas que un unha non se por para con ao aos á ás é
    son foi foron ser está están como máis mais pero quen cal cales cando onde porque canto este esta isto
    iso ese esa el ela eles elas seu súa seus súas xa moi tamén entre sobre sen ata polo pola polos polas
    nun nunha ten hai pode debe vostede eu nós ou despois algún algúns | facer atopar amosar traballo ano
    anos día tempo xente persoas nome número páxina ficheiro usuario valor contrasinal sistema idioma
    lingua novo nova bo primeiro primeira último exemplo axuda cidade país mundo introduza insira
    seleccionar cambiar engadir eliminar válido válida si cada dous maior menos ningún ningunha todos todas
    outro outra mesmo campo palabra data hora sitio lista contido formulario | ción dade ando | áéíñóúü""",
    "eu": """eta da ez du bat dira zen ere hau hori den ziren baina edo izan dute zuen nola non noiz nor
    zer zergatik zein zenbat dago daude dela duen duten egin behar baino arte gero batean batek bere haren
    hura hauek horiek ni zu gu haiek beste guztiak oso orain hemen baita bezala arabera zuten dituzte ditu
    naiz gara dituen dezake | erabili erabiltzaile erabiltzailea aurkitu erakutsi lan urte egun denbora
    jende izen izena zenbaki orri orria fitxategi balio balioa pasahitz pasahitza sistema hizkuntza berri
    on lehen azken asko adibide laguntza hiri herri mundu sartu idatzi aukeratu aldatu gehitu ezabatu
    baliozko bai bi gehiago gutxiago bakoitza dena behintzat honen honek bati eremua | tzen zko aren etan
    ako tzea ean | ñ""",
    "ga": """agus an na is ar i le go a do bhí tá ní ag sé sí siad ach mar seo sin nach níl atá raibh cad
    cé cathain conas cá cén fáth céard faoi chun ó as roimh idir tar éis gan den don leis agam agat aige
    aici againn acu mé tú muid sibh iad gur nuair má dá bheith féin eile gach chuig san sna nó trí ba |
    úsáid úsáideoir déanamh aimsigh taispeáin obair bliain bliana lá am daoine duine ainm uimhir leathanach
    comhad luach focal pasfhocal córas teanga nua maith chéad deireanach leor sampla cabhair cathair tír
    domhan iontráil cuir roghnaigh athraigh scrios bailí neamhbhailí dhá níos mó lú iomlán | acht adh ann
    igh | áéíóú""",
    "eo": """la kaj de en estas al ne kiu kiuj kiun kio kie kiam kiel kial kiom kies por kun sur el pri per
    ĝi ĝis li ŝi ili ni vi mi sed aŭ se ke ĉu ĉi tiu tiuj tio tie tiam tre pli plej nur ankaŭ jam ankoraŭ
    estis estos esti povas devas havas onia sia lia ŝia ilia via nia antaŭ post inter sen kontraŭ da dum
    sub kvankam ĉar do unu | uzi fari trovi montri laboro jaro jaroj tago tempo homoj homo nomo nombro paĝo
    paĝon dosiero uzanto uzanton valoro valoron pasvorto pasvorton sistemo lingvo lingvon nova novan bona
    unua lasta multaj ekzemplo helpo urbo lando mondo enigu elektu ŝanĝi aldoni forigi validan valida jes
    du malpli ĉiu ĉiuj neniu | ojn ajn | ĉĝĥĵŝŭ""",
    "is": """og að er í á sem það ekki til var við um af fyrir með en eru hann hún þeir þær þau þess því
    frá þegar hvað hver hvar hvenær hvernig hvers vegna hvaða ég þú þið eða hefur hafa verið vera verður
    eftir undir yfir milli án þar hér mjög einnig bara aðeins sér sig sinn sína allt allir þessi þetta
    þessa mig þig okkur eins | nota notandi gera finna sýna vinna ár ári dagur tími fólk nafn tala númer
    síða síðan skrá gildi lykilorð kerfi tungumál nýr ný nýtt góður fyrsta síðasta margir dæmi hjálp borg
    land heimur sláðu veldu breyta bæta eyða gilt gild já nei tveir fleiri hvert inn minnsta lagi hægt
    enginn engin ekkert | nni num ður inn | áðéíóúýþæö""",
    "sq": """dhe në e të i një me për që nuk është janë nga si se ka kanë u do po ku kur kush pse çfarë
    cili cila cilat sa ky kjo këta këto ai ajo ata ato unë ti ne ju tij saj tyre mund duhet por ose edhe më
    shumë vetëm pas para mes ndërmjet pa deri gjatë ishte ishin qenë kishte tek nën mbi juaj jeni kam |
    përdor përdorues përdoruesi bëj gjej shfaq punë vit vite vitin ditë kohë njerëz emër emri numër numri
    faqe faqja kartelë vlerë vlera fjalëkalim fjalëkalimi fjalëkalimin sistem gjuhë ri re mirë parë fundit
    shumicë shembull ndihmë qytet vend botë jepni zgjidhni ndrysho ndryshoni shtoni fshi fshini vlefshme jo
    dy ndonjë çdo tjetër juve | isht eve ave imi uar esë | çë""",
    "af": """die en van is in het nie dat 'n word wat te vir met op sy aan hy sal by ook was kan om as maar
    hulle ons jy u haar hierdie daardie wie waar wanneer hoekom hoe watter uit deur oor na tot moet geen
    meer dan of omdat tussen onder sonder slegs ek julle wees kon wil nog al asseblief jou moenie voor
    terug net weer sou sê kry | gebruik maak vind wys werk jaar dag tyd mense naam nommer getal bladsy lêer
    gebruiker waarde wagwoord stelsel taal nuwe goed eerste laaste baie voorbeeld hulp stad land wêreld
    voer gee kies verander voeg skrap geldige ja nee elke ander nodig reeds dit hê uur kom gaan | heid lik
    ing | áêëéôûîï""",
    "cy": """y yr a ac o i yn mae ar am gan wedi bod nid oes ei eu ni chi hi fe ond neu pan pwy beth ble
    pryd pam sut faint pa hwn hon hyn hynny oedd roedd yw sydd sy er mwyn gyda rhwng dan dros heb cyn ôl
    fel mai nad na ddim yma yno eich fy rhaid gallu iawn | defnyddio defnyddiwr gwneud dod dangos gwaith
    blwyddyn flynedd dydd amser pobl enw rhif tudalen ffeil gwerth cyfrinair system iaith newydd da cyntaf
    olaf llawer enghraifft cymorth dinas gwlad byd rhowch dewiswch newid ychwanegu dileu dilys annilys ie
    dau mwy llai pob | | âêîôûŵŷ""",
    "sw": """ya na wa kwa ni katika za la cha vya hii hiyo huu hizo hawa huyo yake wake zake lake kuwa
    alikuwa ilikuwa kama lakini au pia si hakuna kila sana tu nini nani wapi lini kwanini jinsi gani ngapi
    mimi wewe yeye sisi ninyi wao ambayo ambao baada kabla kati bila hadi kutoka kwenye hapa tafadhali
    haiwezi wakati | tumia kutumia mtumiaji fanya pata onyesha kazi mwaka miaka siku muda watu mtu jina
    namba nambari ukurasa faili thamani nywila nenosiri mfumo lugha mpya nzuri kwanza mwisho wengi mfano
    msaada mji nchi dunia ingiza chagua badilisha ongeza futa sahihi ndiyo hapana mbili zaidi nyingine
    lazima""",
    "tl": """ang ng sa na mga ay at si ni hindi ito iyon para kung kay siya sila ako ikaw kami tayo kayo
    niya nila ko mo namin natin ninyi may mayroon wala ano sino saan kailan bakit paano ilan alin dahil
    pero o kapag mula hanggang upang lamang din rin nang pa lang noong dito doon bawat lahat maaari dapat
    iyong | | | ñ""",
    "la": """et in est non ad ut cum sed qui quae quod quid quis de ex ab per sunt esse erat fuit si nec
    neque atque ac aut hoc haec hic ille illa illud ipse eius eorum suis suo sua enim autem etiam quam ubi
    quando cur quomodo post ante inter sine pro sub nunc tamen""",
    "st": """ke ho le ba ya ea tsa sa o e ha ka hore empa mme kapa wa bo mo tse di se re lena eo seo ena
    bona hae hona ntho jwang jang neng mang hobane kamoo haholo hape moo teng ne tla bile kahoo tšoanang
    bakeng feela eng joalo oa tsena ntle pele | | | š""",
    "az": """və bir bu da də üçün ilə nə o olaraq çox daha kimi ən qədər var yox deyil amma ya ki hansı
    necə niyə harada kim neçə zaman olan oldu sonra əvvəl görə qarşı hər heç mən sən biz siz onlar onun
    bunun şey tərəfindən arasında üzərində isə həm çünki əgər edin bilər lazımdır olmalıdır | istifadə
    istifadəçi etmək tapmaq göstər iş il ildə gün insanlar ad adı rəqəm say səhifə fayl dəyər dəyəri şifrə
    parol sistem dil yeni yaxşı ilk birinci son çoxlu nümunə kömək şəhər ölkə dünya daxil seçin dəyiş əlavə
    sil düzgün keçərli bəli xeyr iki az bütün başqa eyni | lar lər dır dir lıq lik | çəğıöşü""",
    "uz": """va bu bir uchun bilan ham emas edi deb yoki lekin ammo kim nima qayerda qachon nega qanday
    qancha qaysi men sen biz siz ular uning shu esa kerak mumkin yo'q bor eng har keyin oldin haqida orqali
    bo'lgan bo'lib qilish qilgan bo'lishi sizning | foydalanuvchi yil kun vaqt odam odamlar ismi raqam
    sahifa fayl qiymat parol til yangi yaxshi birinchi oxirgi kop misol yordam shahar mamlakat dunyo
    kiriting tanlang ozgartirish qoshish ochirish togri haqiqiy ha ikki ortiq kamida boshqa""",
    "lb": """de den d' an ass net eng en et si mat fir vun zu op als wéi wat wien wou firwat wéini dat déi
    dës dësen ech du hien mir dir hir oder awer wann datt ginn gëtt gouf sinn war huet hunn kann muss
    nëmmen nach duerch iwwer zum zur vum keen keng säin seng tëschent ënner bis och méi vill wielt | | |
    äëéöü""",
    "mt": """il l' ta li u fi ma huwa hija għal għall minn mill f' b' kien kienet dan din dawn dik jew imma
    meta fejn min x' għaliex kif kemm liema aħna intom huma tiegħu tagħha tagħhom mhux hemm biss ukoll wara
    qabel bejn fuq taħt lil mal tal fil bil kull iktar | | | ċġħżàèìòù""",
    "ru": """и в не на что с по это как к из у за от но для о же он она они мы вы я все его её их так то
    было был была были быть или если бы ли только уже ещё при до после между под над без через во со об
    может можно нужно надо нет есть кто где когда почему зачем какой какая какие сколько чем который
    которая которые этот эта эти этого этой тот также является там тут меня тебя нас вас | использовать
    сделать найти показать работа работы год году лет года день время времени люди людей человек имя номер
    число страница страницу страницы файл пользователь пользователя пользователей значение пароль пароля
    система язык новый новая новые первый последний много пример помощь город страна мир введите выберите
    изменить добавить удалить правильный правильное да два более меньше больше каждый поле должно должен
    себя свой свои ни один одна одно содержит этом | ость ния ние ого ать ить ется тся | иёйщъыьэюя""",
    "uk": """і в не на що з по це як до із у за від але для о та же він вона вони ми ви я всі його її їх
    так то було був була були бути або якщо би чи тільки лише вже ще при після між під над без через про
    може можна треба немає є хто де коли чому навіщо який яка яке які скільки чим котрий цей ця ці цього
    цієї той також там тут мене тебе нас вас й щоб зі необхідно | використовувати зробити знайти показати
    робота роботи рік році років день час люди людей людина імʼя номер число сторінка сторінку файл
    користувач користувача значення пароль система мова новий нова нові перший останній багато приклад
    допомога місто країна світ введіть виберіть оберіть змінити додати видалити правильний правильне два
    більше менше кожен поле повинно повинен себе свій один одна одне містить цьому | ість ння ого ати ити
    ться | ийщьюяґєії""",
    "be": """і ў не на што з па гэта як да у за ад але для аб ж ён яна яны мы вы я усе яго яе іх так то
    было быў была былі быць або калі бы ці толькі ўжо яшчэ пры пасля паміж пад над без праз пра можа можна
    трэба няма ёсць хто дзе чаму навошта які якая якое якія колькі чым гэты гэтая гэтыя гэтага той таксама
    там тут мяне цябе нас вас каб са ды | выкарыстоўваць зрабіць знайсці паказаць праца год годзе гадоў
    дзень час людзі людзей чалавек імя нумар лік старонка файл карыстальнік значэнне пароль сістэма мова
    новы новая новыя першы апошні шмат прыклад дапамога горад краіна свет увядзіце выберыце змяніць дадаць
    выдаліць правільны два больш менш кожны поле павінна паспяхова змена | асць нне ага аць іць цца |
    ёйыьэюяіў""",
    "bg": """и в не на че с по това как към от за но до са е се да ще той тя те ние вие аз всички него нея
    тях така беше бяха бил била било били или ако ли само вече още при след между под над без през със във
    може трябва няма има кой коя кое кои къде кога защо какво какъв каква какви колко чрез който която
    които този тази тези също там тук ме ни ви си съм сте сме бъде около | използвам използва направя
    намери покажи работа година години ден време хора човек име номер число страница файл потребител
    потребителя потребителско стойност стойността парола паролата система език нов нова ново нови първи
    последен много пример помощ град страна свят въведете изберете промени добави добавен изтрий валиден
    валидна валидно два две повече по-малко всеки полето един една едно успешно | ост ние ния ата ето ите |
    ийщъьюя""",
    "mk": """и во не на дека со по ова како кон од за но до се е да ќе тој таа тие ние вие јас сите него
    неа нив така беше беа бил била било биле или ако ли само веќе уште при после помеѓу под над без преку
    може мора треба нема има кој која кое кои каде кога зошто што каков каква какви колку чија овој оваа
    овие истотака исто тука ме ве ги го му ѝ ја сум сте сме биде околу | користи направи најди покажи
    работа година години ден време луѓе човек име број страница страна датотека корисник корисничко
    вредност вредноста лозинка лозинката систем јазик нов нова ново нови прв последен многу пример помош
    град земја свет внесете изберете промени додади додаден избриши валиден валидна валидно два две повеќе
    помалку секој полето еден една едно успешно | ост ата ето ите иот | иѓѕјљњќџѐѝ""",
    "kk": """және мен бұл үшін бір де да ол осы сол емес бар жоқ болып болды болған болады деп керек кім не
    қайда қашан неге қалай қанша қандай біз сіз олар оның менің туралы кейін дейін арқылы бойынша тек өте
    немесе бірақ егер барлық болуы | жыл күн уақыт адам аты сан бет файл пайдаланушы қолданушы мәні
    құпиясөз тіл жаңа жақсы бірінші соңғы көп мысал көмек қала ел әлем енгізіңіз таңдаңыз өзгерту қосу жою
    дұрыс иә екі | | иёйщъыьэюяәғқңөұүһі""",
    "ky": """жана бул үчүн бир да дагы ал ошол эмес бар жок болуп болду болгон болот деп керек ким эмне
    кайда качан эмнеге кантип канча кандай биз сиз алар анын менин жөнүндө кийин чейин аркылуу боюнча өтө
    же бирок эгер бардык менен болушу | жыл күн убакыт адам аты сан барак файл колдонуучу маани маанини
    сырсөз тил жаңы жакшы биринчи акыркы көп мисал жардам шаар өлкө дүйнө киргизиңиз жазыңыз тандаңыз
    өзгөртүү кошуу өчүрүү туура ооба эки | | иёйщъыьэюяңөү""",
    "mn": """нь энэ ба болон юм байна байсан бол бөгөөд тэр хэн юу хаана хэзээ яагаад яаж хэд ямар би чи
    бид та тэд түүний миний тухай дараа өмнө хүртэл болно гэж гэсэн байх үгүй биш ч л бүх маш зөвхөн эсвэл
    харин хэрэв дээр доор хамт | жил өдөр цаг хүн хүмүүс нэр тоо хуудас файл хэрэглэгч хэрэглэгчийн утга
    нууц үг хэл шинэ сайн анхны сүүлийн олон жишээ тусламж хот улс дэлхий оруулна оруулах сонгоно сонгох
    өөрчлөх нэмэх устгах зөв тийм хоёр энэхүү | | иёйщъыьэюяөү""",
    "tg": """ва дар аз ба ки ин он барои бо бе то ё агар аммо вале кӣ чӣ куҷо кай чаро хел чанд кадом ман
    ту ӯ мо шумо онҳо аст буд шуд мешавад карда шуда бояд нест ҳаст ҳам баъд пеш дигар ҳар | сол рӯз вақт
    одамон ном рақам саҳифа файл корбар истифодабаранда қимат парол забон нав хуб якум охирин бисёр мисол
    ёрӣ шаҳр кишвар ҷаҳон ворид кунед интихоб тағйир илова дуруст ҳа ду | | иёйъэюяғӣқӯҳҷ""",
    "ar": """في من على إلى أن هذا هذه التي الذي ما هو هي عن مع كان كانت لا لم لن إن أو ثم كل بعد قبل بين
    حتى عند غير قد كما لكن ليس كيف متى أين لماذا كم أي هل ماذا الذين ذلك تلك هناك هم نحن أنت أنا كانوا يكون
    تكون تم يجب عندما منذ خلال حول دون فقط أيضا بعض به له لها فيه فيها منها إذا | استخدام عمل العمل سنة عام
    يوم وقت الناس اسم رقم صفحة الصفحة ملف مستخدم المستخدم قيمة القيمة كلمة المرور نظام لغة جديد جديدة جيد
    أول الأول آخر كثير مثال مساعدة مدينة بلد دولة العالم أدخل اختر تغيير إضافة حذف صحيح صحيحة نعم اثنين
    أكثر أقل الرجاء عدد | | ةىيكهأإؤئءآ""",
    "fa": """و در به از که این را با است برای آن یک تا بر شد بود شده باشد می خود هم نیز یا اما اگر چه چرا
    چگونه کجا کی کدام چند چیست کیست کسی من تو او ما شما آنها ایشان های هر همه بین پس پیش بعد قبل باید کرد
    کند شود دارد دارند نیست هستند بودند روی زیر بدون ها ای چون ولی توسط | استفاده کردن پیدا نمایش کار سال
    سال‌ها روز زمان مردم نام شماره عدد صفحه فایل کاربر مقدار گذرواژه رمز سیستم زبان جدید خوب اولین آخرین
    بسیار مثال کمک شهر کشور جهان وارد کنید انتخاب تغییر اضافه حذف معتبر نامعتبر بله خیر دو بیشتر کمتر لطفا
    لطفاً | | پچژگکیهآئؤء""",
    "ur": """اور کے کی کا میں ہے سے کو نے ہیں پر یہ وہ اس ان کہ جو تھا تھی تھے ہو گیا گئی کر کیا کیوں کیسے
    کہاں کب کون کونسا کتنے کتنی نہیں بھی ایک لیے ساتھ بعد پہلے تک یا اگر لیکن ہم آپ میرا اپنے اپنی جب تو ہی
    کوئی کچھ سب ہوا ہوئے ہوتا جا رہا رہے صرف برائے مہربانی درمیان | | | پچژگکیہھےںٹڈڑئآؤء""",
    "ps": """او په د له چې دا دی ده دي نه کې ته سره هم یا خو که هغه دغه زه مونږ تاسو دوی څه ولې څنګه چیرته
    کله څوک څومره کوم شو شوی وي هر تر پورې وروسته مخکې | | | پچژګکیېۍيټډړږښځڅڼئهآ""",
    "ug": """ۋە بۇ بىلەن ئۈچۈن بىر ئۇ شۇ ئەمەس بار يوق نېمە كىم نەدە قاچان قانداق قايسى قانچە مەن سەن بىز
    سىز ئۇلار كېيىن بۇرۇن ياكى ئەمما ئەگەر ھەم كېرەك بولىدۇ دەپ ئارقىلىق | | | پچژگكىيۇۆۈۋېەھڭئ""",
    "ku": """و لە بە بۆ کە ئەم ئەو لەگەڵ نییە هەیە بوو دەبێت یان بەڵام ئەگەر چی کێ کوێ کەی بۆچی چۆن چەند من
    تۆ ئێمە ئێوە ئەوان هەموو دوای پێش تەنها نا بکە لەسەر | | | پچژگکیەێۆڕڵڤهئ""",
    "hi": """के का की में है और से को पर यह वह हैं ने कि एक इस उस भी नहीं जो था थी थे हो गया गई कर करने
    किया क्या क्यों कैसे कहाँ कहां कब कौन कौनसा कितने कितनी किस लिए साथ बाद पहले तक या अगर लेकिन हम आप मेरा
    अपने अपनी जब तो ही कोई कुछ सब हुआ हुए होता होती रहा रहे द्वारा ये वे इन उन अथवा यदि कृपया होना चाहिए
    सकता सकते इसे | उपयोग प्रयोग करें काम साल वर्ष दिन समय लोग नाम संख्या पृष्ठ फ़ाइल उपयोगकर्ता प्रयोक्ता
    मूल्य मान कूटशब्द भाषा नया नई नये अच्छा पहला अंतिम बहुत उदाहरण मदद शहर देश दुनिया दर्ज चुनें बदलें
    जोड़ें हटाएँ मान्य अवैध हाँ दो अधिक कम दें वैध तिथि भरें पता सही गलत आवश्यक | | ़ॉँ""",
    "mr": """आणि आहे च्या ते तो ती हा ही हे या व की नाही आहेत होता होती होते झाला झाली झाले केला केली केले
    करा करणे का कसे कुठे कधी कोण कोणता कोणती कोणते किती काय साठी मध्ये पासून पर्यंत नंतर पूर्वी किंवा जर पण
    परंतु आम्ही तुम्ही आपण माझा मी त्या त्यांनी त्याच्या एक सर्व फक्त असे असते असा अशी आपल्या कृपया जे जी
    जो ज्या तर शकत | वापर काम वर्ष वर्षे दिवस वेळ लोक नाव संख्या पृष्ठ फाइल वापरकर्ता मूल्य संकेतशब्द
    पासवर्ड भाषा नवीन नवा चांगला पहिला शेवटचा खूप उदाहरण मदत शहर देश जग टाका प्रविष्ट निवडा बदला जोडा हटवा
    वैध अवैध होय दोन अधिक कमी असणे असावे आवश्यक तारीख योग्य | | ळॉऱ""",
    "ne": """र छ को मा ले लाई बाट हो यो त्यो थियो थिए छन् भएको भने पनि गर्न गरेको गर्ने गर्नुहोस् हुन हुन्
    हुन्छ गरिएको के किन कसरी कहाँ कहिले कुन कति का की लागि सँग संग पछि अघि सम्म वा यदि तर हामी तपाईं
    तपाईंको म मेरो उनी उनको तिनी आफ्नो छैन छैनन् केही सबै मात्र अन्य यस यी ती थिइन् भयो कृपया होला अथवा
    द्वारा सकिन्छ नभएको | प्रयोग काम वर्ष साल दिन समय मानिस मानिसहरू नाम संख्या पृष्ठ फाइल प्रयोगकर्ता मान
    पासवर्ड भाषा नयाँ राम्रो पहिलो अन्तिम धेरै उदाहरण मद्दत सहर शहर देश संसार भर्नुहोस् राख्नुहोस्
    छान्नुहोस् परिवर्तन थप्नुहोस् मेटाउनुहोस् मान्य अमान्य दुई बढी कम प्रत्येक वैध मिति सही गलत आवश्यक
    ठेगाना | | ँ""",
    "he": """של את על הוא היא לא זה זו עם גם או כי אם אבל היה היתה הייתה היו אני אתה אנחנו הם הן מה מי איפה
    היכן מתי למה מדוע איך כיצד כמה איזה אילו אשר כל יש אין רק עוד כבר לפני אחרי בין תחת בלי עד אל מן ידי
    כדי יותר מאוד אלה אלו להיות יכול לאחר שלך אותו נא אינו אינה אינם ניתן""",
    "yi": """און איז די דער דאס דאָס פון פֿון אין צו מיט נישט ניט אַז אז איך דו ער זי מיר איר זיי וואס
    וואָס ווער וווּ ווען פארוואס פֿאַרוואָס ווי אָבער אבער אָדער אויף אויך ביי האט האָט זענען געווען ווערט
    קען א אַ אן פאר פֿאַר נאָך | | | װױײ""",
    "el": """και το η ο της του των να την τον τα οι στο στη στην στον με για από που είναι δεν θα ως σε
    ότι αν αλλά ή μια ένα ένας τι ποιος ποια ποιο ποιοι πού πότε πώς γιατί πόσο πόσα πόσες αυτό αυτή αυτός
    αυτά κατά μετά πριν μεταξύ χωρίς μόνο επίσης πιο ήταν έχει έχουν μας σας τους τις στα στους στις εγώ
    εσύ όταν όπως""",
    "hy": """և է են որ ի մի այս այդ այն ու իր նրա նրանք մենք դուք ես դու նա չէ չի եմ ենք եք էր էին ինչ ով
    որտեղ երբ ինչու ինչպես քանի որը որի որոնք համար հետ մասին մեջ վրա տակ առանց հետո առաջ մինչև նաև բայց
    կամ եթե միայն ավելի բոլոր պետք""",
    "bn": """এবং ও এই যে না করে হয় থেকে জন্য এর একটি তার কি কে কী কেন কিভাবে কীভাবে কোথায় কখন কোন কত আমি
    তুমি আপনি সে তিনি আমরা তারা সঙ্গে সাথে পরে আগে মধ্যে উপর নিচে বা যদি কিন্তু ছিল ছিলেন হয়েছে করা হবে
    তবে শুধু সব আর ছাড়া দ্বারা হতে আছে নেই""",
    "ta": """ஒரு இந்த அந்த என்று மற்றும் ஆகும் இருந்து இது அது என்ன யார் எங்கே எப்போது ஏன் எப்படி எத்தனை
    எந்த நான் நீ நீங்கள் அவர் அவர்கள் நாம் நாங்கள் உள்ள இல்லை அல்லது ஆனால் மேலும் கொண்டு பின்னர் முன் வரை
    போன்ற தான் மட்டும் அனைத்து வேண்டும் உள்ளது""",
    "ka": """და არის რომ ეს ის იყო არ რა ვინ სად როდის რატომ როგორ რამდენი რომელი რომელიც მე შენ ჩვენ თქვენ
    ისინი მისი მათი თუ ან მაგრამ მხოლოდ ასევე უკვე ყველა შემდეგ მანამდე შორის გარეშე მიერ აქვს იყვნენ უნდა
    ამ იმ""",
    "tt": """һәм белән өчен бу бер да дә ул шул түгел бар юк булып булган була дип кирәк кем нәрсә кайда
    кайчан нигә ничек күпме нинди без сез алар аның минем турында соң кадәр аркылы буенча бик яки ләкин
    әгәр барлык | | | иёйщъыьэюяәөүҗңһ""",
    "gd": """agus an na air gu tha cha chan nach robh bha le mar seo sin ach ann anns aig do bho fo ro
    eadar gun dè cò càite cuin carson ciamar cia mheud mi thu e i sinn sibh iad agam agad aige aice againn
    agaibh aca bidh bi faod feumaidh gach no ma nuair oir dhut thoir cuir | | | àèìòù""",
    "fy": """de it in fan en is dat net op mei foar te oan hat wie by as mar ek troch út nei om of wêr wa
    wat wannear hoe hokker ik do hy sy wy jim jo har syn dizze dy noch mear gjin wurdt kin moat hawwe binne
    | | | êâûúô""",
    "br": """ar an ur al hag ha da e en eus gant evit war a o ez n'eo ket eo zo oa bet pe met ma mar piv
    petra pelec'h pegoulz perak penaos pet me te hi ni c'hwi int holl dre goude araok etre hep betek ouzh
    un d'ar hini | | | ñùê""",
    "ig": """na ihe nke a ka ndị ọ bụ ga maka site ya ha ma ọzọ dị nwere ike gị onye ebe gịnị kedu mgbe ole
    ihi n'ime ahụ niile ọbụla biko ị bụghị abụghị adịghị | | | ịọụṅ""",
}
