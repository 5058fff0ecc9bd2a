package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

// suite is a test without subtests, or a suite of tests/conformance, of a binary with all
// mutants in it.
type suite struct {
	name    string
	folder  string // to run it in
	command []string
	takes   time.Duration
	sees    map[string]bool // the mutants whose condition it finds otherwise
}

// hook is a file that each mutated package gets: it knows which mutant is active, and notes
// which ones would change a condition. A run in which a condition always is what the mutant
// makes of it cannot tell them apart.
const hook = `package %s

import (
	"os"
	"sync"
)

var (
	activeMutant = os.Getenv("ACTIVE_MUTANT")
	mutantTrace  = os.Getenv("MUTANT_TRACE")
	seenMutants  sync.Map
)

func mutated(name string, neutral, holds bool) bool {
	if name == activeMutant {
		return neutral
	}
	if mutantTrace == "" || holds == neutral {
		return holds
	}
	if _, seen := seenMutants.LoadOrStore(name, true); !seen {
		f, err := os.OpenFile(mutantTrace, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			panic(err)
		}
		if _, err := f.WriteString(name + "\n"); err != nil {
			panic(err)
		}
		f.Close()
	}
	return holds
}
`

// build writes the sources with all mutants, and builds a test binary of each package.
func build(ctx context.Context, root, dir string, sources []source, packages []string) error {
	replaced := map[string]string{}
	write := func(path string, text []byte) error {
		copied := filepath.Join(dir, fmt.Sprintf("%d-%s", len(replaced), filepath.Base(path)))
		replaced[path] = copied
		return os.WriteFile(copied, text, 0o600)
	}
	for i := range sources {
		folder := filepath.Join(root, filepath.Dir(sources[i].path))
		hooked := filepath.Join(folder, "mutated.go")
		if replaced[hooked] == "" {
			if err := write(hooked, fmt.Appendf(nil, hook, filepath.Base(folder))); err != nil {
				return err
			}
		}
		if err := write(filepath.Join(root, sources[i].path), sources[i].instrument()); err != nil {
			return err
		}
	}
	text, err := json.Marshal(map[string]any{"Replace": replaced})
	if err != nil {
		return err
	}
	overlay := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(overlay, text, 0o600); err != nil {
		return err
	}
	for _, p := range packages {
		arguments := []string{"test", "-vet=off", "-c", "-overlay", overlay, "-o", binary(dir, p), "./" + p}
		command := exec.CommandContext(ctx, "go", arguments...) //nolint:gosec // paths of this repository
		command.Dir, command.Stderr = root, os.Stderr
		if err := command.Run(); err != nil {
			return fmt.Errorf("build the tests of %s: %w", p, err)
		}
	}
	return nil
}

func binary(dir, folder string) string {
	return filepath.Join(dir, strings.ReplaceAll(folder, "/", "-")+".test")
}

// unit are the tests of a package whose names match, each subtest by itself: one run tells
// their names.
func unit(ctx context.Context, root, dir, folder, match string) ([]*suite, error) {
	all := &suite{name: folder, folder: filepath.Join(root, folder), command: []string{binary(dir, folder), "-test.v", "-test.run", match}}
	failed, said := all.run(ctx, 10*time.Minute, "", "") //nolint:mnd // go test's own
	if failed {
		return nil, fmt.Errorf("%s fails without a mutant:\n%s", folder, said)
	}
	var suites []*suite
	names := started(string(said))
	for _, name := range names {
		if slices.ContainsFunc(names, func(other string) bool { return strings.HasPrefix(other, name+"/") }) {
			continue
		}
		pattern := "^" + strings.ReplaceAll(regexp.QuoteMeta(name), "/", "$/^") + "$"
		suites = append(suites, &suite{name: folder + " " + name, folder: all.folder, command: []string{binary(dir, folder), "-test.run", pattern}})
	}
	return suites, nil
}

// started are the tests and subtests that a run with -test.v names.
func started(said string) []string {
	var names []string
	for line := range strings.Lines(said) {
		if name, found := strings.CutPrefix(line, "=== RUN   "); found {
			names = append(names, strings.TrimSuffix(name, "\n"))
		}
	}
	return names
}

// run runs a suite with a mutant, none if it has no name, and tells whether it fails.
func (s *suite) run(ctx context.Context, limit time.Duration, mutant, trace string) (failed bool, said []byte) {
	arguments := append(slices.Clip(s.command[1:]), "-test.timeout", limit.String())
	command := exec.CommandContext(ctx, s.command[0], arguments...) //nolint:gosec // built here
	command.Dir, command.Env = s.folder, append(os.Environ(), "ACTIVE_MUTANT="+mutant, "MUTANT_TRACE="+trace)
	said, err := command.CombinedOutput()
	return err != nil, said
}

// trace runs all suites without a mutant: how long they take, and what they see. The
// quickest ones come first.
func trace(ctx context.Context, dir string, suites []*suite, workers int) error {
	failures := make([]error, len(suites))
	each(workers, len(suites), func(i int) {
		s := suites[i]
		file := filepath.Join(dir, fmt.Sprintf("trace-%d", i))
		begin := time.Now()
		if failed, said := s.run(ctx, 10*time.Minute, "", file); failed { //nolint:mnd // go test's own
			failures[i] = fmt.Errorf("%s fails without a mutant:\n%s", s.name, said)
			return
		}
		s.takes, s.sees = time.Since(begin), map[string]bool{}
		text, err := os.ReadFile(file) //nolint:gosec // written by the suite
		if err != nil && !os.IsNotExist(err) {
			failures[i] = err
		}
		for name := range strings.Lines(string(text)) {
			s.sees[strings.TrimSuffix(name, "\n")] = true
		}
	})
	slices.SortStableFunc(suites, func(a, b *suite) int { return cmp.Compare(a.takes, b.takes) })
	return errors.Join(failures...)
}

// catch finds for each mutant the quickest suite that fails with it, or takes far longer.
func catch(ctx context.Context, names []string, suites []*suite, workers int, done func(mutant string, by *suite)) {
	var lock sync.Mutex
	each(workers, len(names), func(i int) {
		at := slices.IndexFunc(suites, func(s *suite) bool {
			if !s.sees[names[i]] {
				return false
			}
			failed, _ := s.run(ctx, 30*time.Second+10*s.takes, names[i], "") //nolint:mnd // also where much else runs
			return failed
		})
		var by *suite
		if at >= 0 {
			by = suites[at]
		}
		lock.Lock()
		defer lock.Unlock()
		done(names[i], by)
	})
}

// each does n pieces of work, some at once.
func each(workers, n int, do func(i int)) {
	queue := make(chan int)
	var wait sync.WaitGroup
	for range workers {
		wait.Go(func() {
			for i := range queue {
				do(i)
			}
		})
	}
	for i := range n {
		queue <- i
	}
	close(queue)
	wait.Wait()
}
