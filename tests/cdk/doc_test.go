// Package cdk_test compares what cdkapp deploys with the functions that it
// deploys, which cdkapp itself does not import.
package cdk_test
