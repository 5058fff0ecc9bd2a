// Package processortest tells tests how much of the machine their process has used.
package processortest
