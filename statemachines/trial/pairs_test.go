package trial_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/statemachines/source"
	"github.com/jobpoller/jobpoller/statemachines/trial"
)

func TestPairs(t *testing.T) {
	root := os.Getenv("JOBPOLLER_CORPUS") + "/field/repairs"
	index, err := os.ReadFile(root + "/index.tsv")
	require.NoError(t, err)
	for _, line := range strings.Split(string(index), "\n")[1:] {
		f := strings.Split(line, "\t")
		if len(f) < 3 {
			continue
		}
		t.Run(f[0], func(t *testing.T) {
			load := func(which string) *source.Definition {
				found, err := filepath.Glob(filepath.Join(root, f[0], which+".*"))
				require.NoError(t, err)
				d, err := source.LoadOne(t.Context(), found[0], source.Options{})
				require.NoError(t, err)
				return d
			}
			a, err := load("before").Parse()
			require.NoError(t, err)
			b, err := load("after").Parse()
			if err != nil {
				fmt.Println(f[0], f[1], "PARSE", err)
				return
			}
			var input []byte
			if _, text, ok := strings.Cut(f[2], "--input "); ok {
				input = []byte(text)
			}
			start := time.Now()
			r, err := trial.Compare(t.Context(), a, b, trial.Options{Models: models.Load, Input: input})
			if err != nil {
				fmt.Println(f[0], f[1], "ERR", err)
				return
			}
			fmt.Printf("== %s %s: %d scripts of %d, %d differ, %s\n", f[0], f[1], r.Scripts, r.Of, len(r.Outside()), time.Since(start))
			seen := map[string]int{}
			for _, run := range r.Outside() {
				kinds := fmt.Sprint(run.Kinds)
				if seen[kinds]++; seen[kinds] == 1 {
					fmt.Println("    ", run.Script, run.Differences)
				}
			}
		})
	}
}
