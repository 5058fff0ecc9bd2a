package diag

import (
	"fmt"
	"reflect"
	"time"
)

// Word is text of the program's own in a message: the name of a member, a variable or
// a job, as opposed to what the message quotes.
type Word string

// Quotation is a value of a text in a message.
type Quotation struct {
	Text string
	Kind string // what the message says without the value, such as "a number"
}

// String returns the text.
func (q Quotation) String() string { return q.Text }

// OwnWords is fmt.Sprintf without what is quoted: of the operands it shows each Word,
// whole numbers, truth values and times, the kind of a Quotation, and three dots for all
// others. It is for readers who must not see the values of a text, such as those of a log.
func OwnWords(format string, operands ...any) string {
	shown := make([]any, len(operands))
	for i, operand := range operands {
		switch of, isQuotation := operand.(Quotation); {
		case isQuotation:
			shown[i] = Word(of.Kind)
		case isOwn(operand):
			shown[i] = operand
		default:
			shown[i] = quoted{}
		}
	}
	return fmt.Sprintf(format, shown...)
}

func isOwn(operand any) bool {
	switch operand.(type) {
	case Word, time.Time:
		return true
	}
	of := reflect.ValueOf(operand)
	return of.CanInt() || of.CanUint() || of.Kind() == reflect.Bool
}

// quoted stands for an operand that is not shown, whatever its verb.
type quoted struct{}

// Format implements fmt.Formatter.
func (quoted) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte("...")) }
