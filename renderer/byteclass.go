package renderer

// A byteClass says what a byte may be, one bit for each question that is asked of many
// bytes.
type byteClass uint8

const (
	// inWord: of a kind or an apiVersion.
	inWord byteClass = 1 << iota
	// inKey: of a plain key, without another look.
	inKey
	// passedOver: the first of a line that tells nothing of a document once its first
	// line is known; kind, apiVersion and metadata are what is looked for.
	passedOver
	// meaningful: the first of a plain scalar that may be no string.
	meaningful
	// endsPlain: what may end a plain scalar.
	endsPlain

	letter = inWord | inKey | passedOver
	digit  = inWord | inKey | meaningful
)

var classes = [256]byteClass{
	'\t': endsPlain, ':': endsPlain,
	' ': passedOver | endsPlain,
	'$': inKey, '_': inKey,
	'+': meaningful, '<': meaningful, '~': meaningful,
	'0': digit, '1': digit, '2': digit, '3': digit, '4': digit, '5': digit,
	'6': digit, '7': digit, '8': digit, '9': digit,
	'-': inWord | inKey | meaningful, '.': inWord | inKey | meaningful,
	'/': inWord | inKey, 'a': inWord | inKey, 'k': inWord | inKey, 'm': inWord | inKey,
	'A': letter, 'B': letter, 'C': letter, 'D': letter, 'E': letter, 'G': letter,
	'H': letter, 'I': letter, 'J': letter, 'K': letter, 'L': letter, 'M': letter,
	'P': letter, 'Q': letter, 'R': letter, 'S': letter, 'U': letter, 'V': letter,
	'W': letter, 'X': letter, 'Z': letter, 'b': letter, 'c': letter, 'd': letter,
	'e': letter, 'g': letter, 'h': letter, 'i': letter, 'j': letter, 'l': letter,
	'p': letter, 'q': letter, 'r': letter, 's': letter, 'u': letter, 'v': letter,
	'w': letter, 'x': letter, 'z': letter,
	'F': letter | meaningful, 'N': letter | meaningful, 'O': letter | meaningful, 'T': letter | meaningful,
	'Y': letter | meaningful, 'f': letter | meaningful, 'n': letter | meaningful, 'o': letter | meaningful,
	't': letter | meaningful, 'y': letter | meaningful,
}

func (c byteClass) of(b byte) bool { return classes[b]&c != 0 }
