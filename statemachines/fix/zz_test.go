package fix_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/statemachines/fix"
	"github.com/jobpoller/jobpoller/statemachines/source"
)


func TestZZ(t *testing.T) {
	root := os.Getenv("JOBPOLLER_CORPUS") + "/field/"
	files, _ := filepath.Glob(root + os.Getenv("ZZ"))
	for _, f := range files {
		text, _ := os.ReadFile(f)
		read := func(text []byte) (*source.Definition, error) {
			return source.LoadOne(t.Context(), source.Stdin, source.Options{Stdin: bytes.NewReader(text)})
		}
		start := time.Now()
		_, all, err := fix.RepairFile(t.Context(), text, read, fix.RepairOptions{Sure: true, Models: models.Load})
		fmt.Println("==", f[len(root):], err, time.Since(start))
		for _, r := range all {
			fmt.Printf("   %v made=%v %s: %s%s (%d runs)\n", r.Class, r.Made, r.Name(), r.About, r.Reason, r.Runs)
		}
	}
}
