package main

import (
	"bytes"
	"context"
	"encoding/json"
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

// suite is a test, or a suite of tests/conformance, of a binary with all mutants in it.
type suite struct {
	name    string
	folder  string // to run it in
	command []string
	takes   time.Duration
	reaches map[string]bool // mutants
}

// hook is a file that each mutated package gets: it knows which mutant is the active one,
// and notes which ones are asked for.
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

func mutated(name string) bool {
	if mutantTrace != "" {
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
	}
	return name == activeMutant
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

// unit are the tests of a package, each by itself.
func unit(ctx context.Context, root, dir, folder string) ([]*suite, error) {
	command := exec.CommandContext(ctx, binary(dir, folder), "-test.list", "^(Test|Example)") //nolint:gosec // built here
	command.Dir = filepath.Join(root, folder)
	out, err := command.Output()
	if err != nil {
		return nil, err
	}
	var all []*suite
	for name := range strings.FieldsSeq(string(out)) {
		all = append(all, &suite{
			name: folder + " " + name, folder: command.Dir,
			command: []string{binary(dir, folder), "-test.failfast", "-test.timeout", "3m", "-test.run", "^" + regexp.QuoteMeta(name) + "$"},
		})
	}
	return all, nil
}

// run runs a suite with a mutant, none if it has no name, and tells whether it fails.
func (s *suite) run(ctx context.Context, mutant, trace string) (failed bool, said []byte) {
	command := exec.CommandContext(ctx, s.command[0], s.command[1:]...) //nolint:gosec // built here
	command.Dir, command.Env = s.folder, append(os.Environ(), "ACTIVE_MUTANT="+mutant, "MUTANT_TRACE="+trace)
	var out bytes.Buffer
	command.Stdout, command.Stderr = &out, &out
	err := command.Run()
	return err != nil, out.Bytes()
}

// trace runs all suites without a mutant: how long they take, and what they reach.
func trace(ctx context.Context, dir string, suites []*suite) error {
	for i, s := range suites {
		file := filepath.Join(dir, fmt.Sprintf("trace-%d", i))
		begin := time.Now()
		if failed, said := s.run(ctx, "", file); failed {
			return fmt.Errorf("%s fails without a mutant:\n%s", s.name, said)
		}
		s.takes, s.reaches = time.Since(begin), map[string]bool{}
		text, err := os.ReadFile(file) //nolint:gosec // written by the suite
		if err != nil && !os.IsNotExist(err) {
			return err
		}
		for name := range strings.Lines(string(text)) {
			s.reaches[strings.TrimSuffix(name, "\n")] = true
		}
	}
	slices.SortStableFunc(suites, func(a, b *suite) int { return int(a.takes - b.takes) })
	return nil
}

// catch finds the suite that fails with each mutant; the quickest ones are asked first.
func catch(ctx context.Context, names []string, suites []*suite, workers int, done func(mutant string, by *suite)) {
	queue := make(chan string)
	var wait sync.WaitGroup
	var lock sync.Mutex
	for range workers {
		wait.Go(func() {
			for name := range queue {
				var by *suite
				for _, s := range suites {
					if !s.reaches[name] {
						continue
					}
					if failed, _ := s.run(ctx, name, ""); failed {
						by = s
						break
					}
				}
				lock.Lock()
				done(name, by)
				lock.Unlock()
			}
		})
	}
	for _, name := range names {
		queue <- name
	}
	close(queue)
	wait.Wait()
}
