package renderer

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// booleanWord and isNullWord know the words that plain scalars of YAML 1.1 mean
// something by (https://yaml.org/type/bool.html, null.html), as go.yaml.in/yaml/v2, the
// reader in sigs.k8s.io/yaml, knows them.
func booleanWord(b []byte) (value, ok bool) {
	switch string(b) {
	case "y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON":
		return true, true
	case "n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF":
		return false, true
	}
	return false, false
}

func isNullWord(b []byte) bool {
	switch string(b) {
	case "", "~", "null", "Null", "NULL":
		return true
	}
	return false
}

// plainKind says what a plain scalar is in YAML 1.1, as go.yaml.in/yaml/v2 resolves
// it, and whether that is certain.
func plainKind(b []byte) (kind nodeKind, sure bool) {
	if len(b) == 0 {
		return null, true
	}
	if !meaningful.of(b[0]) {
		return text, true
	}
	switch c := b[0]; {
	case isLetter(c), c == '~':
		if len(b) > len("false") {
			return text, true
		}
		if _, ok := booleanWord(b); ok {
			return boolean, true
		}
		if isNullWord(b) {
			return null, true
		}
		return text, true
	case c == '<':
		return text, string(b) != "<<"
	case !numberLike(b):
		return text, true
	}
	return number, numberText(b) != nil
}

// numberText returns the JSON text of a number, nil when that is left to the library.
func numberText(b []byte) []byte {
	const certain = 15 // digits that a float64 holds whatever they are
	whole := b
	if b[0] == '-' {
		whole = b[1:]
	}
	digits := 0
	for digits < len(whole) && isDigit(whole[digits]) {
		digits++
	}
	switch {
	case digits == 0:
		return nil
	case whole[0] == '0' && digits == len(whole) && digits > 1: // octal
		if n, err := strconv.ParseInt(string(b), 0, 64); err == nil && digits <= certain {
			return strconv.AppendInt(nil, n, 10)
		}
		return nil
	case whole[0] == '0' && (digits > 1 || len(whole) < len(b)):
		return nil // -0 is one to JSON only as a float
	case digits == len(whole):
		if digits > len("999999999999999999") {
			return nil
		}
		return b
	case whole[digits] != '.':
		return nil
	}
	// JSON writes a float without the zeros at its end; very small ones it writes otherwise.
	const least = len("000001")
	fraction := whole[digits+1:]
	if len(fraction) == 0 || len(fraction) > least || digits+len(fraction) > certain {
		return nil
	}
	for _, c := range fraction {
		if !isDigit(c) {
			return nil
		}
	}
	b = bytes.TrimRight(b, "0")
	return bytes.TrimSuffix(b, []byte("."))
}

// numberLike says whether a text may be a number, an infinity or no number (.nan).
// Times of day and dates are texts to Kubernetes. An underscore counts nowhere.
func numberLike(b []byte) bool {
	i := 0
	// peek passes over underscores; 0 is the end.
	peek := func() byte {
		for ; i < len(b); i++ {
			if b[i] != '_' {
				return b[i]
			}
		}
		return 0
	}
	sign := func() {
		if c := peek(); c == '+' || c == '-' {
			i++
		}
	}
	// count passes over digits.
	count := func(is func(byte) bool) (n int) {
		for c := peek(); c != 0 && is(c); c = peek() {
			n++
			i++
		}
		return n
	}
	sign()
	c := peek()
	if c == '.' && i+1 < len(b) && isLetter(b[i+1]) {
		return len(b)-i == len(".inf") // .nan, .inf, and what looks like them
	}
	digits := count(isDigit)
	if digits == 1 && c == '0' {
		switch peek() | 0x20 {
		case 'x':
			i++
			count(isHexDigit)
			return peek() == 0
		case 'o', 'b':
			i++
			sign() // the library reads what follows 0b on its own: 0b+1 is a number
			count(isDigit)
			return peek() == 0
		}
	}
	if peek() == '.' {
		i++
		digits += count(isDigit)
	}
	if digits == 0 {
		return false
	}
	if peek()|0x20 == 'e' {
		i++
		sign()
		if count(isDigit) == 0 {
			return false
		}
	}
	return peek() == 0
}

func isHexDigit(c byte) bool { return isDigit(c) || c|0x20 >= 'a' && c|0x20 <= 'f' }

// stampKey and stampValue write a stamp in a block mapping: plain, as long as no
// reader, of YAML 1.1 or 1.2, can take it for anything but a string.
func stampKey(key string) string {
	for i := range len(key) {
		if !inKey.of(key[i]) || key[i] == '$' {
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

// quote writes a string in a form that means the same in JSON and in YAML, which
// takes some characters for line breaks or for nothing that JSON lets stand.
func quote(s string) string {
	b, _ := json.Marshal(s) // a string can always be marshalled
	if !bytes.ContainsFunc(b, escapedInYAML) {
		return string(b)
	}
	var q strings.Builder
	for _, r := range string(b) {
		if escapedInYAML(r) {
			fmt.Fprintf(&q, `\u%04x`, r)
		} else {
			q.WriteRune(r)
		}
	}
	return q.String()
}

// escapedInYAML says whether YAML 1.1 reads a character in a quoted scalar as
// something else, or refuses it (section 5.1), of those that JSON does not escape.
func escapedInYAML(r rune) bool {
	return r >= 0x7f && r < 0xa0 || r == 0xfeff || r == 0xfffe || r == 0xffff
}
