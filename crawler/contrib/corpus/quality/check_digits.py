"""Recognizes numbers that identify a person or an account by their check digits and dates, so that other numbers stay.

Covered are China's identity number (GB 11643), the US social security number, payment cards (ISO/IEC 7812), IBAN (ISO
13616), and the personal numbers of the EU countries whose numbers have a check digit and also a date, letters or
separators: Belgium, Finland, France, Italy, Poland, Spain and Sweden. Numbers of nine or eleven digits without more
structure, as in the Netherlands and Germany, are not covered: one in ten of all such numbers would pass.
"""

from datetime import date

CHINA_WEIGHTS = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)
"""The weights of the first 17 digits (ISO 7064, MOD 11-2)."""
CHINA_DIGITS = "10X98765432"
"""The check digit for each remainder of the weighted sum modulo 11."""
PROVINCES = frozenset((*range(11, 16), *range(21, 24), *range(31, 38), *range(41, 47), *range(50, 55), *range(61, 66)))
"""The first two digits of China's numbers (GB/T 2260)."""
SPAIN_LETTERS = "TRWAGMYFPDXBNJZSQVHLCKE"
"""The check letter for each remainder of the number modulo 23."""
FINLAND_LETTERS = "0123456789ABCDEFHJKLMNPRSTUVWXY"
"""The check character for each remainder of the number modulo 31."""
ITALY_ODD = (1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23)
"""The values of 0 to 9, or A to Z, in odd positions; in even positions, the value is the index."""
IBAN_COUNTRIES = {
    15: ("NO",),
    16: ("BE",),
    18: ("DK", "FI", "FK", "FO", "GL", "NL", "SD"),
    19: ("MK", "SI"),
    20: ("AT", "BA", "EE", "KZ", "LT", "LU", "MN", "XK"),
    21: ("CH", "HR", "LI", "LV"),
    22: ("BG", "BH", "CR", "DE", "GB", "GE", "IE", "ME", "RS", "VA"),
    23: ("AE", "GI", "IL", "IQ", "OM", "SO", "TL"),
    24: ("AD", "CZ", "ES", "MD", "PK", "RO", "SA", "SE", "SK", "TN", "VG"),
    25: ("LY", "PT", "ST"),
    26: ("IS", "TR"),
    27: ("BI", "DJ", "FR", "GR", "IT", "MC", "MR", "SM"),
    28: ("AL", "AZ", "BY", "CY", "DO", "GT", "HN", "HU", "LB", "NI", "PL", "SV"),
    29: ("BR", "EG", "PS", "QA", "UA"),
    30: ("JO", "KW", "MU", "YE"),
    31: ("MT", "SC"),
    32: ("LC",),
    33: ("RU",),
}
"""Countries by the length of their IBANs, as in the registry of ISO 13616."""
POLAND_WEIGHTS = (1, 3, 7, 9, 1, 3, 7, 9, 1, 3)
"""The weights of the first ten digits."""


def is_date(year: int, month: int, day: int) -> bool:
    try:
        date(year, month, day)
    except ValueError:
        return False
    return True


def has_luhn_digit(digits: str) -> bool:
    """Whether the last digit is the check digit of the others by Luhn's algorithm (ISO/IEC 7812-1, annex B).

    >>> has_luhn_digit("4111111111111111"), has_luhn_digit("4111111111111112")
    (True, False)
    """
    doubled = (sum(divmod(2 * int(digit), 10)) for digit in digits[-2::-2])
    return (sum(map(int, digits[-1::-2])) + sum(doubled)) % 10 == 0


def is_card(digits: str) -> bool:
    """Whether digits are a card number of one of the large networks, including UnionPay.

    >>> is_card("6222021234567890128"), is_card("1111111111111117")
    (True, False)
    """
    # Visa and Mastercard; American Express, Diners Club, Discover and UnionPay.
    is_of_network = digits[0] in "45" or digits[:2] in ("34", "37", "36", "60", "62", "64", "65")
    is_of_range = "2221" <= digits[:4] <= "2720" or "3528" <= digits[:4] <= "3589"  # Mastercard, JCB
    return (is_of_network or is_of_range) and has_luhn_digit(digits)


def is_iban(text: str) -> bool:
    """Whether a text with the length of an IBAN, in either case, has the right check digits.

    >>> is_iban("DE89370400440532013000"), is_iban("de89370400440532013000"), is_iban("DE88370400440532013000")
    (True, True, False)
    """
    moved = text[4:] + text[:4]  # the country and the check digits come last
    return int("".join(str(int(character, 36)) for character in moved)) % 97 == 1  # A counts as 10, Z as 35


def is_china_id(number: str) -> bool:
    """Whether 18 characters, or the 15 digits of the older form, are an identity number of mainland China.

    >>> is_china_id("11010519491231002X"), is_china_id("110105194912310021"), is_china_id("110105491231002")
    (True, False, True)
    """
    if int(number[:2]) not in PROVINCES:
        return False
    if len(number) == 15:  # has no check digit
        return is_date(1900 + int(number[6:8]), int(number[8:10]), int(number[10:12]))
    summed = sum(weight * int(digit) for weight, digit in zip(CHINA_WEIGHTS, number[:17], strict=True))
    year = int(number[6:10])
    has_birthday = year >= 1900 and is_date(year, int(number[10:12]), int(number[12:14]))
    return has_birthday and number[17].upper() == CHINA_DIGITS[summed % 11]


def is_us_id(number: str) -> bool:
    """Whether a number like 123-45-6789 can be a social security number: some parts are never assigned.

    >>> is_us_id("123-45-6789"), is_us_id("666-45-6789")
    (True, False)
    """
    area, group, serial = number.split("-")
    return area not in ("000", "666") and area < "900" and group != "00" and serial != "0000"


def is_spain_id(number: str) -> bool:
    """Whether 8 digits, or X, Y or Z and 7 digits, have the right check letter.

    >>> is_spain_id("12345678Z"), is_spain_id("X1234567L"), is_spain_id("12345678A")
    (True, True, False)
    """
    digits = str("XYZ".find(number[0])) + number[1:8] if number[0] in "XYZ" else number[:8]
    return number[8] == SPAIN_LETTERS[int(digits) % 23]


def is_italy_id(code: str) -> bool:
    """Whether 16 letters and digits have the right check letter.

    >>> is_italy_id("RSSMRA85T10A562S"), is_italy_id("RSSMRA85T10A562T")
    (True, False)
    """
    values = [int(character) if character.isdigit() else ord(character) - ord("A") for character in code[:15]]
    summed = sum(ITALY_ODD[value] for value in values[::2]) + sum(values[1::2])
    return code[15] == chr(ord("A") + summed % 26)


def is_france_id(digits: str) -> bool:
    """Whether 15 digits have a month and the right key, which is the last two digits.

    >>> is_france_id("255081416802538"), is_france_id("255081416802539")
    (True, False)
    """
    month = int(digits[3:5])  # from 20 to 42 if the documents about the birth are incomplete
    return (1 <= month <= 12 or 20 <= month <= 42) and 97 - int(digits[:13]) % 97 == int(digits[13:])


def is_poland_id(digits: str) -> bool:
    """Whether 11 digits have a date and the right check digit.

    >>> is_poland_id("44051401359"), is_poland_id("44051401358")
    (True, False)
    """
    century, month = divmod(int(digits[2:4]), 20)  # the month is raised by 20, 40, ... for other centuries
    years = (1900, 2000, 2100, 2200, 1800)
    summed = sum(weight * int(digit) for weight, digit in zip(POLAND_WEIGHTS, digits[:10], strict=True))
    has_birthday = is_date(years[century] + int(digits[:2]), month, int(digits[4:6]))
    return has_birthday and (10 - summed % 10) % 10 == int(digits[10])


def is_belgium_id(digits: str) -> bool:
    """Whether 11 digits have the right two check digits, for a birth before or since 2000.

    >>> is_belgium_id("85073003328"), is_belgium_id("85073003329")
    (True, False)
    """
    # From 2000, a 2 is put before the digits.
    return any(97 - int(before + digits[:9]) % 97 == int(digits[9:]) for before in ("", "2"))


def is_finland_id(number: str) -> bool:
    """Whether a number like 131052-308T has a date and the right check character.

    >>> is_finland_id("131052-308T"), is_finland_id("131052-308U")
    (True, False)
    """
    # The century does not matter: only 1900 and 2000 differ, in their 29 February.
    has_birthday = is_date(2000 + int(number[4:6]), int(number[2:4]), int(number[:2]))
    return has_birthday and number[10] == FINLAND_LETTERS[int(number[:6] + number[7:10]) % 31]


def is_sweden_id(digits: str) -> bool:
    """Whether the 10 digits of YYMMDD-XXXX have a date and the right check digit.

    >>> is_sweden_id("8112189876"), is_sweden_id("8112189875")
    (True, False)
    """
    # The century does not matter: only 1900 and 2000 differ, in their 29 February.
    return is_date(2000 + int(digits[:2]), int(digits[2:4]), int(digits[4:6])) and has_luhn_digit(digits)
