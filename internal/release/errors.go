package release

import "fmt"

// A fieldError is about one field of a HelmRelease.
type fieldError struct {
	field string
	err   error
}

func (e *fieldError) Error() string {
	if inner, ok := e.err.(*fieldError); ok { // a field of that field
		return e.field + "." + inner.Error()
	}
	return e.field + ": " + e.err.Error()
}

func (e *fieldError) Unwrap() error { return e.err }

func fieldErrorf(field, format string, args ...any) error {
	return &fieldError{field: field, err: fmt.Errorf(format, args...)}
}

type errorString string

func (e errorString) Error() string { return string(e) }
