package goerror

// maxWrapped bounds what is read of an error. One that wraps itself has no end, and
// errors.As and errors.Is do not return from it.
const maxWrapped = 256

// wrapped is an error and what it wraps, in the order of errors.As.
type wrapped []error

func unwrap(err error) wrapped { return wrapped(nil).add(err) }

func (all wrapped) add(err error) wrapped {
	if err == nil || len(all) == maxWrapped {
		return all
	}
	all = append(all, err)
	switch e := err.(type) { //nolint:errorlint // it looks at each by itself
	case interface{ Unwrap() error }:
		all = all.add(e.Unwrap())
	case interface{ Unwrap() []error }:
		for _, one := range e.Unwrap() {
			all = all.add(one)
		}
	}
	return all
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

// has is errors.Is, for a target that can be compared.
func (all wrapped) has(target error) bool {
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
