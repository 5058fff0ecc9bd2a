package jmespath

// code evaluates an expression on a value. After a failure, which the frame
// keeps, results mean nothing and evaluation only has to end.
type code func(fr *frame, in value) value

// verdict is the result of a condition: a boolean, or null where values without
// an order are compared by size.
type verdict uint8

const (
	no verdict = iota
	yes
	neither
)

func verdictOf(b bool) verdict {
	if b {
		return yes
	}
	return no
}

// test is the code of a condition.
type test func(fr *frame, in value) verdict

func (t test) code() code {
	return func(fr *frame, in value) value {
		v := t(fr, in)
		if v == neither {
			return value{}
		}
		return boolean(v == yes)
	}
}
