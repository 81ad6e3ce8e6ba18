package release

import (
	"errors"
	"fmt"
	"net"
)

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

// reached adds what to do to the error of a server that can't be reached.
func reached(err error) error {
	var failed net.Error
	if !errors.As(err, &failed) {
		return err
	}
	return fmt.Errorf("%w; look at the source's spec.url, and whether this machine reaches it; --chart [NAMESPACE/]NAME=PATH renders a copy", err)
}

type errorString string

func (e errorString) Error() string { return string(e) }
