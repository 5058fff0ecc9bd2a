// Package packaging builds the Lambda functions and a release as a user does, and
// installs and checks the packages. Its tests run with make e2e.
package packaging
