"""Which language a text is in: sure, or nothing."""

from __future__ import annotations

import subprocess
import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrubjay.text.languages import STEMMERS, detect, stop_words, word_lists

# Of each language, a sentence as documents have them and a question as people ask it.
SENTENCES = """
en The ferry leaves the harbour at seven and comes back before noon. | where did we put the spare keys
de Der Zug fährt um sieben ab und kommt erst am Abend zurück. | wie kann ich die Heizung im Keller abstellen
fr Le marché est ouvert tous les matins, sauf le lundi. | comment est-ce que je peux changer de train à Lyon
es El tren sale a las siete y vuelve antes de la noche. | ¿dónde están las llaves de la casa?
it Il mercato è aperto ogni mattina, ma non la domenica. | dove sono le chiavi della macchina nuova
pt O comboio sai às sete e não volta antes da noite. | onde estão as chaves da casa nova
nl De trein vertrekt om zeven uur en komt pas in de avond terug. | waar zijn de sleutels van het huis
sv Tåget går klockan sju och kommer inte tillbaka förrän på kvällen. | var har jag lagt nycklarna till huset
da Toget kører klokken syv og kommer først tilbage om aftenen, siger hun.
da hvad er forskellen mellem de to og hvornår kom noget nyt af den slags
no Toget går klokka sju, men det kommer ikke tilbake før etter at vi har spist, sier noen.
no hva er forskjellen mellom de to og når kom noe nytt av det slaget
fi Juna lähtee kello seitsemän ja palaa vasta illalla. | missä talon avaimet ovat ja kuka ne vei
hu A vonat hétkor indul, és csak este jön vissza. | hol vannak a ház kulcsai, és ki vitte el őket
ro Trenul pleacă la șapte și nu se întoarce până seara. | unde sunt cheile de la casa cea nouă
cs Vlak odjíždí v sedm a vrací se až večer, když už je tma. | kde jsou klíče od nového domu a kdo je má
sk Vlak odchádza o siedmej a vracia sa až večer, keď už je tma. | kde sú kľúče od nového domu a kto ich má
pl Pociąg odjeżdża o siódmej i wraca dopiero wieczorem. | gdzie są klucze do nowego domu i kto je ma
hr Vlak kreće u sedam, a vraća se tek navečer, što nije uvijek dobro, jer tko bi čekao prije mraka.
hr gdje su ključevi i tko ih je uzeo prije mene
sr Voz kreće u sedam, a vraća se tek uveče, što nije uvek dobro, i niko ne zna gde staje pre mraka.
sr где су кључеви од нове куће и ко их је узео
sl Vlak odpelje ob sedmih in se vrne šele zvečer. | kje so ključi nove hiše in kdo jih ima
lt Traukinys išvyksta septintą ir grįžta tik vakare. | kur yra naujo namo raktai ir kas juos turi
lv Vilciens atiet septiņos un atgriežas tikai vakarā. | kur ir jaunās mājas atslēgas un kas tās paņēma
et Rong väljub kell seitse ja tuleb tagasi alles õhtul. | kus on uue maja võtmed ja kes need võttis
tr Tren saat yedide kalkıyor ve ancak akşam geri dönüyor. | yeni evin anahtarları nerede ve onları kim aldı
id Kereta berangkat pukul tujuh dan baru kembali setelah malam.
id bagaimana saya bisa menemukan kunci itu dan kapan
ms Kereta api bertolak pukul tujuh dan hanya kembali selepas malam.
ms adakah saya boleh cuba lagi selepas ini dan bila
vi Tàu chạy lúc bảy giờ và đến tối mới quay về. | chìa khóa của nhà mới ở đâu và ai đã lấy
ca El tren surt a les set i no torna fins al vespre. | on són les claus de la casa i qui les té
gl O tren sae ás sete e non volve ata a noite. | onde están as chaves da casa e quen as ten
eu Trena zazpietan irteten da eta gauean bakarrik itzultzen da.
eu non daude etxe berriaren giltzak eta nork ditu
ga Fágann an traein ar a seacht agus ní thagann sí ar ais go dtí an oíche.
ga cá bhfuil eochracha an tí agus cé
eo La trajno foriras je la sepa kaj revenas nur vespere.
eo kie estas la ŝlosiloj de la domo kaj kiu prenis ilin
is Lestin fer klukkan sjö og kemur ekki aftur fyrr en um kvöldið. | hvar eru lyklarnir að húsinu
sq Treni niset në shtatë dhe nuk kthehet deri në mbrëmje. | ku janë çelësat e shtëpisë dhe kush i ka
af Die trein vertrek om sewe en hy kom nie voor die aand terug nie. | waar is die sleutels en wie het hulle
cy Mae'r trên yn gadael am saith ac nid yw yn dod yn ôl. | ble mae allweddi y tŷ a phwy sydd wedi eu cymryd
sw Treni inaondoka saa moja na hairudi hadi jioni kwa sababu ni mbali.
sw funguo za nyumba ziko wapi na nani alichukua
tl Ang tren ay umaalis nang alas siyete at hindi bumabalik. | nasaan ang mga susi ng bahay at sino ang kumuha
az Qatar saat yeddidə yola düşür və yalnız axşam qayıdır. | yeni evin açarları harada və onları kim götürdü
st Terene e tsamaea ka hora ea bosupa mme ha e khutle ho fihlela bosiu hobane ho hole haholo.
st ke mang ea nkileng tsena tsa bona hobane ha ho motho
ru Поезд уходит в семь и возвращается только вечером. | где лежат ключи от нового дома и кто их взял
uk Потяг відходить о сьомій і повертається лише ввечері. | де лежать ключі від нового будинку і хто їх узяв
be Цягнік адыходзіць а сёмай і вяртаецца толькі ўвечары. | дзе ляжаць ключы ад новага дома і хто іх узяў
bg Влакът тръгва в седем и се връща чак вечерта. | къде са ключовете от новата къща и кой ги взе
mk Возот тргнува во седум и се враќа дури навечер, но не секогаш. | каде се клучевите од куќата и кој ги зеде
kk Пойыз сағат жетіде жүреді және кешке ғана қайтады. | үйдің кілттері қайда және оны кім алды
mn Галт тэрэг долоон цагт хөдөлж, орой л буцаж ирдэг юм. | шинэ байшингийн түлхүүр хаана байна вэ, хэн авсан
ar يغادر القطار في الساعة السابعة ولا يعود إلا في المساء. | أين مفاتيح البيت الجديد ومن أخذها
fa قطار ساعت هفت حرکت می‌کند و تا شب برنمی‌گردد. | کلید خانه‌ی جدید کجاست و چه کسی آن را برد
ur ریل گاڑی سات بجے روانہ ہوتی ہے اور شام سے پہلے واپس نہیں آتی۔ | نئے گھر کی چابیاں کہاں ہیں
hi रेलगाड़ी सात बजे चलती है और शाम से पहले वापस नहीं आती। | नए घर की चाबियाँ कहाँ हैं
mr गाडी सात वाजता सुटते आणि संध्याकाळी परत येते, पण ती नेहमी वेळेवर नाही. | नवीन घराच्या चाव्या कुठे आहेत
ne रेल सात बजे छुट्छ र साँझ मात्र फर्कन्छ, तर सधैं होइन। | नयाँ घरको साँचो कहाँ छ र कसले लियो भने
he הרכבת יוצאת בשבע וחוזרת רק בערב. | איפה המפתחות של הבית החדש
yi די באַן פֿאָרט אַוועק זיבן אַ זייגער און קומט נישט צוריק ביז דער נאַכט.
yi ווער איז דאָס און וואָס האָט ער געזאָגט
el Το τρένο φεύγει στις επτά και γυρίζει το βράδυ. | πού είναι τα κλειδιά του σπιτιού;
hy Գնացքը մեկնում է ժամը յոթին և վերադառնում երեկոյան։ | որտեղ են տան բանալիները
ka მატარებელი შვიდ საათზე გადის და საღამოს ბრუნდება. | სად არის სახლის გასაღები
bn ট্রেন সাতটায় ছাড়ে এবং সন্ধ্যায় ফেরে। | বাড়ির চাবি কোথায়
pa ਗੱਡੀ ਸੱਤ ਵਜੇ ਚੱਲਦੀ ਹੈ। | ਚਾਬੀਆਂ ਕਿੱਥੇ ਹਨ
gu ગાડી સાત વાગ્યે ઉપડે છે. | ચાવીઓ ક્યાં છે
ta ரயில் ஏழு மணிக்கு புறப்படுகிறது. | வீட்டின் சாவி எங்கே
te రైలు ఏడు గంటలకు బయలుదేరుతుంది. | తాళాలు ఎక్కడ ఉన్నాయి
kn ರೈಲು ಏಳು ಗಂಟೆಗೆ ಹೊರಡುತ್ತದೆ. | ಕೀಲಿಗಳು ಎಲ್ಲಿವೆ
ml ട്രെയിൻ ഏഴു മണിക്ക് പുറപ്പെടും. | താക്കോൽ എവിടെ
si දුම්රිය හතට පිටත් වේ. | යතුරු කොහේද
th รถไฟออกเวลาเจ็ดโมงและกลับตอนเย็น | กุญแจบ้านอยู่ที่ไหน
lo ລົດໄຟອອກເຈັດໂມງ | ກະແຈຢູ່ໃສ
km រថភ្លើងចេញម៉ោងប្រាំពីរ | សោនៅឯណា
my ရထားခုနစ်နာရီထွက်သည်။ | သော့ဘယ်မှာလဲ
am ባቡሩ በሰባት ሰዓት ይነሳል። | ቁልፎቹ የት ናቸው
ko 기차는 일곱 시에 떠나서 저녁에 돌아온다. | 집 열쇠는 어디에 있나요
ja 列車は七時に出て、夕方に戻ります。 | 家の鍵はどこですか
zh 火车七点出发，晚上才回来。 | 新房子的钥匙在哪里
"""
TEXTS = [
    (line[:2], text) for line in SENTENCES.strip().splitlines() for text in line[3:].split(" | ")
]
ENGLISH = TEXTS[0][1]


@pytest.mark.parametrize(("code", "text"), TEXTS, ids=[f"{c}-{t[:20]}" for c, t in TEXTS])
def test_a_sentence_and_a_question_are_recognised(code, text):
    """In every language that has a list or a script of its own."""
    assert detect(text) == code


@pytest.mark.parametrize(("code", "text"), TEXTS, ids=[f"{c}-{t[:20]}" for c, t in TEXTS])
def test_capitals_and_separate_accents_change_nothing(code, text):
    """A shouted or decomposed text is the same text."""
    assert detect(unicodedata.normalize("NFD", text)) == code
    assert detect(text.upper()) in (code, "")


NO_WORDS = ("", " ", "\n", "?!", "12345", "3.14 + 2,72", "٣٤٥", "🎉🎉", "___", "\u0301", "\ud800")


@pytest.mark.parametrize("text", NO_WORDS)
def test_what_holds_no_word_is_unsure(text):
    """Nothing, numbers, emoji, stray marks."""
    assert detect(text) == ""


@pytest.mark.parametrize(
    "word",
    "Kubernetes tema information die sin no man a i was hotel Müller São история کتاب".split(),
)
def test_one_ambiguous_word_is_unsure(word):
    """It is a word of several languages, or a name."""
    assert detect(word) == ""


@pytest.mark.parametrize("query", ["Angela Merkel", "São Paulo", "José García Márquez", "la casa"])
def test_names_and_two_shared_words_are_unsure(query):
    """Wrong stems lose documents; being unsure only costs a few more stems."""
    assert detect(query) == ""


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("Where was Łukasz Müller born and when did he die?", "en"),
        ("Wer hat The Lord of the Rings ins Deutsche übersetzt?", "de"),
        ("what does 你好 mean in English", "en"),
        ("QinglanPay 回调失败怎么办", "zh"),
        ("Как установить Docker и Kubernetes на сервер?", "ru"),
        ("Docker コンテナを再起動する方法", "ja"),
        ("كيف أستخدم Python مع PostgreSQL", "ar"),
    ],
)
def test_names_and_quotations_in_another_language_do_not_decide(text, code):
    """The words between them do."""
    assert detect(text) == code


def test_half_and_half_is_unsure():
    """Two languages to the same extent."""
    assert detect("please tell me what this is: мы не знаем, что") == ""


CODE = """import os

def walk(folder):
    for name in sorted(os.listdir(folder)):
        if not name.startswith("."):
            yield os.path.join(folder, name)
"""
SCRIPT = "for (var i = 0; i < n; i++) {\n  var de = la[i];\n  if (de) { return den; }\n}\n"
PROSE = {
    "en": "This library walks a folder and tells you what is in it. You can use it when you need to.\n",
    "de": "Diese Bibliothek geht durch einen Ordner und sagt, was darin ist. So wird sie verwendet:\n",
}


@pytest.mark.parametrize(
    "code", [CODE, SCRIPT, "x = 1", "SELECT id FROM users WHERE a IN (1, 2);"]
)
def test_code_alone_is_english_or_nothing(code):
    """Keywords are English words."""
    assert detect(code) in ("en", "")


@pytest.mark.parametrize("code", ["en", "de"])
@pytest.mark.parametrize("fence", ["```python\n{}```\n", "~~~\n{}~~~\n", "{}"])
def test_code_beside_prose_does_not_decide(code, fence):
    """A README in German is German, however much code it shows."""
    assert detect(PROSE[code] + fence.format(SCRIPT * 8)) == code
    assert detect(fence.format(SCRIPT * 8) + PROSE[code]) == code


def test_addresses_tags_and_identifiers_do_not_decide():
    """What is in them is no sentence."""
    text = (
        "Siehe https://the.example/is/of/and <div class='the of and is'> `the of and` user_of_the"
    )

    assert detect(text + " und auch die anderen, wenn es nicht geht.") == "de"


def test_only_the_languages_named_can_be_the_answer():
    """A question is asked in a language that the store holds."""
    assert detect("where are the keys", {"de", "fr"}) == ""
    assert detect("wo sind die Schlüssel", {"de", "en"}) == "de"
    assert detect("新房子的钥匙在哪里", {"en"}) == ""
    assert detect("東京大学 入学試験", {"ja", "en"}) == "ja"
    assert detect("where are the keys", set()) == ""


def test_fewer_possible_languages_make_it_surer():
    """What is shared with languages that the store does not hold is no doubt."""
    assert detect("история россии") == ""
    assert detect("история россии", {"ru", "en"}) == "ru"
    assert detect("que es la vida") == ""
    assert detect("que es la vida", {"es", "en"}) == "es"


@pytest.mark.parametrize("among", [{"no"}, {"nb", "en"}, {"nn", "da"}])
def test_norwegian_is_one_language_by_any_code(among):
    """nb and nn are stemmed alike."""
    assert detect("hva er det som ikke virker nå", among) == "no"


def test_a_long_word_takes_no_longer_than_a_long_text():
    """No pattern goes back and forth over it."""
    assert detect("<" + "a" * 200_000 + "`" + "=" * 1_000) == ""


def test_a_long_document_is_sampled():
    """Its beginning tells; the rest is not read."""
    assert detect((ENGLISH + " ") * 400 + "und nicht die der das " * 10_000) == "en"


def test_every_stemmer_is_installed_and_every_installed_one_is_used():
    """Both ways, but for the two older stemmers of languages that have a newer one."""
    import Stemmer

    assert set(STEMMERS.values()) == set(Stemmer.algorithms()) - {"porter", "dutch_porter"}


def test_nothing_heavy_is_imported():
    """Neither the stemmers nor the word lists, until a text has to be told."""
    check = (
        "import sys; from scrubjay.text.languages import word_lists; "
        "sys.exit(bool({'Stemmer', 'numpy'} & set(sys.modules)) or word_lists.cache_info().misses)"
    )

    assert subprocess.run([sys.executable, "-c", check], check=False).returncode == 0


def test_stop_words_are_function_words_in_lower_case():
    """English has its list elsewhere; what nobody listed is empty."""
    assert {"der", "und", "für"} <= stop_words("de")
    assert "passwort" not in stop_words("de")
    assert stop_words("nb") == stop_words("no") == stop_words("nn")
    assert stop_words("en") == stop_words("xx") == stop_words("") == frozenset()
    assert not {"c", "d", "l"} & stop_words("fr")


@pytest.mark.parametrize("code", sorted(word_lists()))
def test_the_lists_are_well_formed(code):
    """Lower case, composed, each word once; endings of three or four letters."""
    function, common, endings, letters = (*word_lists()[code].split("|"), "", "", "")[:4]
    words = function.split() + common.split()

    assert word_lists()[code] == unicodedata.normalize("NFC", word_lists()[code]).lower()
    assert len(words) == len(set(words))
    assert len(function.split()) >= 25
    assert all(len(ending) in (3, 4) for ending in endings.split())
    assert len(set(letters.strip())) == len(letters.strip())


CODES = {code for code, _ in TEXTS}
KNOWN = {*CODES, *word_lists(), "or", "bo", ""}


@given(st.text(max_size=300))
def test_any_text_has_an_answer(text):
    """A known code, or nothing; never an error."""
    assert detect(text) in KNOWN


@given(
    st.lists(st.sampled_from([word for _, text in TEXTS for word in text.split()]), max_size=12),
    st.sets(st.sampled_from(sorted(CODES)), max_size=4),
)
def test_the_answer_is_among_those_named(words, among):
    """Whatever is mixed."""
    assert detect(" ".join(words), among) in {*among, ""}
