package renderer

import (
	"encoding/json"
	"strings"
)

// The words that plain scalars of YAML 1.1 mean something by (https://yaml.org/type/bool.html,
// null.html), as go.yaml.in/yaml/v2, the reader in sigs.k8s.io/yaml, knows them.
var (
	booleans = map[string]bool{
		"y": true, "Y": true, "yes": true, "Yes": true, "YES": true,
		"true": true, "True": true, "TRUE": true, "on": true, "On": true, "ON": true,
		"n": false, "N": false, "no": false, "No": false, "NO": false,
		"false": false, "False": false, "FALSE": false, "off": false, "Off": false, "OFF": false,
	}
	nulls = map[string]bool{"": true, "~": true, "null": true, "Null": true, "NULL": true}
)

// plainKind says what a plain scalar is in YAML 1.1, and whether that is certain.
// A number is certain only as a decimal integer, whose JSON text is the same.
func plainKind(b []byte) (kind nodeKind, sure bool) {
	if len(b) == 0 {
		return null, true
	}
	switch c := b[0]; {
	case c == 'y', c == 'Y', c == 'n', c == 'N', c == 't', c == 'T', c == 'f', c == 'F', c == 'o', c == 'O', c == '~':
		if len(b) > len("false") {
			return text, true
		}
		if _, ok := booleans[string(b)]; ok {
			return boolean, true
		}
		if nulls[string(b)] {
			return null, true
		}
		return text, true
	case c == '<':
		return text, string(b) != "<<"
	case isDigit(c):
		if decimal(b) {
			return number, true
		}
		return text, !numberLike(b)
	case c == '+', c == '-', c == '.':
		return text, !numberLike(b)
	}
	return text, true
}

// decimal says whether JSON would write the integer in the same way.
func decimal(b []byte) bool {
	if len(b) > 18 || b[0] == '0' && len(b) > 1 {
		return false
	}
	for _, c := range b {
		if !isDigit(c) {
			return false
		}
	}
	return true
}

// numberLike says whether a text may be read as a number, an infinity or a
// timestamp: it is made only of what those are made of, and is no dotted version
// or address.
func numberLike(b []byte) bool {
	dots, others := 0, 0
	for _, c := range b {
		switch {
		case isDigit(c):
		case c == '.':
			dots++
		case c >= 'a' && c <= 'f', c >= 'A' && c <= 'F', c == '_', c == '+', c == '-', c == ':', c == ' ':
			others++
		case c|0x20 == 'x', c|0x20 == 'o', c|0x20 == 't', c|0x20 == 'z', c|0x20 == 'i', c|0x20 == 'n':
			others++
		default:
			return false
		}
	}
	return dots < 2 || others > 0
}

// stampKey and stampValue write a stamp in a block mapping: plain, as long as no
// reader, of YAML 1.1 or 1.2, can take it for anything but a string.
func stampKey(key string) string {
	for i := range len(key) {
		if !isKeyByte(key[i]) || key[i] == '$' {
			return quote(key)
		}
	}
	return key
}

func stampValue(checksum string) string {
	if strings.ContainsAny(checksum, "abcdf") {
		return checksum
	}
	return quote(checksum) // digits and e alone may be a number
}

// quote writes a string in a form that is valid in JSON and in YAML.
func quote(s string) string {
	b, _ := json.Marshal(s) // a string can always be marshalled
	return string(b)
}
