//go:build !race

package jsonata_test

const slowdown = 1
