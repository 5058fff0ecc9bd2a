package goerror

// maxWrapped bounds what is read of an error. One that wraps itself has no end, and
// errors.As and errors.Is do not return from it.
const maxWrapped = 256

// wrapped is an error and what it wraps, in the order of errors.As.
type wrapped []error

func unwrap(err error) wrapped {
	var all wrapped
	all.add(err)
	return all
}

func (all *wrapped) add(err error) {
	if err == nil || len(*all) == maxWrapped {
		return
	}
	*all = append(*all, err)
	switch e := err.(type) { //nolint:errorlint // it looks at each by itself
	case interface{ Unwrap() error }:
		all.add(e.Unwrap())
	case interface{ Unwrap() []error }:
		for _, one := range e.Unwrap() {
			all.add(one)
		}
	}
}

// find is errors.AsType.
func find[E error](all wrapped) (found E, ok bool) {
	for _, err := range all {
		if found, ok = err.(E); ok { //nolint:errorlint // it looks at each by itself
			return found, true
		}
		if as, can := err.(interface{ As(target any) bool }); can && as.As(&found) {
			return found, true
		}
	}
	return found, false
}

// is is errors.Is for a target that can be compared.
func (all wrapped) is(target error) bool {
	for _, err := range all {
		if err == target { //nolint:errorlint // it looks at each by itself
			return true
		}
		if is, can := err.(interface{ Is(target error) bool }); can && is.Is(target) {
			return true
		}
	}
	return false
}
