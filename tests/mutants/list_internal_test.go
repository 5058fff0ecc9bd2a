package main

import (
	"go/format"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// The conditions of what judges are listed, and those of what works for it are not.
func TestList(t *testing.T) {
	t.Parallel()
	const text = `package p

func check(a, b int) error {
	if a > 1 && (b > 2 || isOdd(b)) {
		return refuse("large")
	}
	if err := work(a); err != nil {
		return err
	}
	if a == 7 {
		return fmt.Errorf("seven: %w", errSeven)
	}
	switch {
	case a == 3:
		return nil
	case b == 4:
		a++
	}
	return nil
}

func isOdd(n int) bool { return n%2 == 1 && n > 0 }

func work(n int) error {
	if n == 0 {
		n++
	}
	return nil
}

func compare(a, b int) []Difference {
	if a != b {
		return append([]Difference(nil), Difference{a, b})
	}
	return nil
}
`
	folder := filepath.Join(t.TempDir(), "p")
	require.NoError(t, os.Mkdir(folder, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(folder, "p.go"), []byte(text), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(folder, "p_test.go"), []byte("no Go"), 0o600))
	sources, err := list(folder, nil)
	require.NoError(t, err)
	require.Len(t, sources, 1)
	var names []string
	for _, m := range sources[0].mutants {
		names = append(names, m.name)
	}
	require.Equal(t, []string{
		"p/p.go check: a > 1", "p/p.go check: b > 2", "p/p.go check: isOdd(b)", "p/p.go check: a == 7", "p/p.go check: a == 3",
		"p/p.go isOdd: n%2 == 1", "p/p.go isOdd: n > 0", "p/p.go compare: a != b",
	}, names)
	changed := string(sources[0].instrument())
	require.Contains(t, changed, `if mutated("p/p.go check: a > 1", true, a > 1) && (mutated("p/p.go check: b > 2", false, b > 2) || `)
	_, err = format.Source([]byte(changed))
	require.NoError(t, err)
}
