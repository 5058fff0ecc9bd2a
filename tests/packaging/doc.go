// Package packaging builds the Lambda functions as a user does, and checks the
// packages. Its tests run with make e2e.
package packaging
