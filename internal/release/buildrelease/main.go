// Command buildrelease builds a release into a folder. The files in it have the time of
// the commit, or SOURCE_DATE_EPOCH.
//
//	go run ./internal/release/buildrelease dist/release v1.2.3
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/jobpoller/jobpoller/internal/release"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) != 3 {
		log.Fatal("buildrelease: pass the folder to write to, and the version")
	}
	if err := build(context.Background(), os.Args[1], os.Args[2]); err != nil {
		log.Fatalf("buildrelease: %v", err)
	}
}

func build(ctx context.Context, folder, version string) error {
	at, err := sourceTime(ctx)
	if err != nil {
		return err
	}
	mains, err := filepath.Glob("lambdas/*/main.go")
	if err != nil {
		return err
	}
	r := release.Release{Module: ".", Version: version, Time: at}
	for _, main := range mains {
		r.Functions = append(r.Functions, "./"+filepath.ToSlash(filepath.Dir(main)))
	}
	return r.Build(ctx, folder, release.Machines()...)
}

// sourceTime is SOURCE_DATE_EPOCH, else the time of the commit.
func sourceTime(ctx context.Context) (time.Time, error) {
	text, given := os.LookupEnv("SOURCE_DATE_EPOCH")
	if !given {
		out, err := exec.CommandContext(ctx, "git", "log", "-1", "--format=%ct").Output()
		if err != nil {
			return time.Time{}, fmt.Errorf("git log: %w: set SOURCE_DATE_EPOCH to the seconds since 1970 of the sources", err)
		}
		text = strings.TrimSpace(string(out))
	}
	seconds, err := strconv.ParseInt(text, 10, 64)
	if err != nil || seconds < 0 {
		return time.Time{}, fmt.Errorf("SOURCE_DATE_EPOCH is %q: expected seconds since 1970", text)
	}
	return time.Unix(seconds, 0), nil
}
