//go:build !race

package fix_test

const usualVariants = manyVariants
