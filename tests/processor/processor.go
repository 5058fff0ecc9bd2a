// Package processor tells tests how much of the machine their process has used.
package processor
