// Package catalog has AWS's waiters as data, and the jobs that AWS publishes no
// waiter for. [Resolve] finds one by its name, with the operation that it polls.
// [Open] opens a catalogue of your own.
//
// It also reads the waiter definitions that AWS publishes, in both of their
// forms, into the same data: [ReadSmithy] reads a Smithy model in its JSON AST,
// [ReadBotocore] a waiters-2.json of botocore. [AnalyzeSmithy] also tells what
// may be wrong in a model. This reading is strict: what a reader does not know
// is refused with its place in the text, and all problems of a text are reported
// at once, as a [diag.Problems].
package catalog

import (
	"bytes"
	"time"

	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/diag"
)

// Definition is a waiter and the operation that it polls.
type Definition struct {
	// Service names the service as the SDKs do ("S3", "Auto Scaling"): the
	// sdkId of a Smithy model, else the name of the service's shape; empty for
	// an operation of no service, and in botocore's form, which does not say.
	Service string
	// Operation is the operation's name, such as DescribeExport.
	Operation string
	// OperationID is the operation's shape ID in a Smithy model, such as
	// com.amazonaws.dynamodb#DescribeExport; else empty.
	OperationID string
	// TotalWait is how long botocore polls at most, its delay times its
	// maxAttempts; 0 in a Smithy model, which leaves it to the caller.
	TotalWait time.Duration
	Waiter    *pollcore.Waiter
}

// place returns the problem of a value that was read from its own text alone,
// at its place in the whole text.
func place(p diag.Problem, text []byte, n *jsontree.Node) diag.Problem {
	at := diag.At(text, n.Offset+offset(n.Raw(), p.Line, p.Column), n.Pointer()+p.Pointer, p.Message)
	at.Suggestion = p.Suggestion
	return at
}

// offset is the byte at a line and column, both counted from 1.
func offset(text []byte, line, column int) int {
	at := 0
	for ; line > 1; line-- {
		at += bytes.IndexByte(text[at:], '\n') + 1
	}
	for i := range string(text[at:]) {
		if column--; column == 0 {
			return at + i
		}
	}
	return len(text)
}
