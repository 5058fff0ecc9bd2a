package cdkapp

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awss3assets"
	"github.com/aws/constructs-go/constructs/v10"

	"github.com/jobpoller/jobpoller/internal/lambdabuild"
)

// ContextCodeFolder is the CDK's context value that stands for the prop
// CodeFolder where that is not given: cdk synth -c jobpoller:codeFolder=dist.
const ContextCodeFolder = "jobpoller:codeFolder"

// function is one of the shipped ones.
type function struct {
	name     string // of its package below lambdas
	id, role string // of constructs
	does     string
}

// title is the name of the function for people: run-job.
func (f function) title() string {
	var title strings.Builder
	for i, r := range f.id {
		if unicode.IsUpper(r) && i > 0 {
			title.WriteByte('-')
		}
		title.WriteRune(unicode.ToLower(r))
	}
	return title.String()
}

var (
	runJobFunction      = function{name: "runjob", id: "RunJob", role: "RunJobRole", does: "Starts a job at most once for each execution"}
	checkStatusFunction = function{name: "checkstatus", id: "CheckStatus", role: "CheckStatusRole", does: "Says whether a job has ended"}
	collectorFunction   = function{name: "collector", id: "Collector", role: "CollectorRole", does: "Answers Tasks that wait for jobs"}
)

// code returns the deployment package of the function: from the folder that make
// lambdas wrote, if one is given, or else built now.
//
// The CDK's own way, a bundling with a Go callback, needs the name of a container
// image that is never used, and hides the error of a callback; so the package is
// buildPackage before it is made an asset, for the stacks alone that are synthesized.
func (p where) code(scope constructs.Construct, f function, folder *string, arch string) awslambda.Code {
	prop := "CodeFolder"
	if given, ok := scope.Node().TryGetContext(new(ContextCodeFolder)).(string); folder == nil && ok {
		folder, prop = &given, "CodeFolder (context "+ContextCodeFolder+")"
	}
	var archive string
	var err error
	switch {
	case folder != nil:
		archive = filepath.Join(*folder, f.name+"-"+arch+".zip")
		if _, err := os.Stat(archive); err != nil {
			p.refuseFor(err, prop, "expected the files that make lambdas writes, but %s cannot be read: %v", archive, err)
		}
	case !*awscdk.Stack_Of(scope).BundlingRequired():
		archive, err = unbuilt()
	default:
		archive, err = buildOnce(build{function: f.name, arch: arch})
	}
	if err != nil {
		p.refuseFor(err, prop, "%s", advice(err))
	}
	return awslambda.Code_FromAsset(new(archive), &awss3assets.AssetOptions{DisplayName: new("jobpoller " + f.name)})
}

// ownCode returns the deployment package of the functions of the user's module, of which
// pkg is the main package.
func (p where) ownCode(scope constructs.Construct, pkg, arch string) awslambda.Code {
	archive, err := unbuilt()
	if *awscdk.Stack_Of(scope).BundlingRequired() {
		archive, err = buildOnce(build{pkg: pkg, arch: arch})
	}
	if err != nil {
		p.refuseFor(err, "Package", "cannot build the functions: %v", err)
	}
	return awslambda.Code_FromAsset(new(archive), &awss3assets.AssetOptions{DisplayName: new(pkg)})
}

func advice(err error) string {
	if errors.Is(err, exec.ErrNotFound) {
		return fmt.Sprintf("cannot build the functions without Go (%v): install Go 1.26 or later, "+
			"or name a folder that make lambdas has written, here or with cdk -c %s=<folder>", err, ContextCodeFolder)
	}
	return fmt.Sprintf("cannot build the functions: %v\nOr name a folder that make lambdas has written, here or with cdk -c %s=<folder>",
		err, ContextCodeFolder)
}

// unbuilt stands for a package in a stack that is not synthesized.
func unbuilt() (string, error) {
	folder, err := cache()
	if err != nil {
		return "", err
	}
	archive := filepath.Join(folder, "unbuilt.zip")
	return archive, os.WriteFile(archive, nil, 0o600)
}

// build is a package for an architecture: of one of the shipped functions, or of the
// user's module, where the app runs.
type build struct{ function, pkg, arch string }

// builds are the packages that this process has built.
var builds = struct {
	sync.Mutex
	archives map[build]string
}{archives: map[build]string{}}

// buildOnce returns a package, which is built once in a process and stays for the next:
// the CDK's --no-staging leaves it where it is.
func buildOnce(b build) (string, error) {
	builds.Lock()
	defer builds.Unlock()
	if archive, ok := builds.archives[b]; ok {
		return archive, nil
	}
	archive, err := b.make()
	if err == nil {
		builds.archives[b] = archive
	}
	return archive, err
}

func (b build) make() (string, error) {
	ctx := context.Background()
	source, pkg, name := ".", b.pkg, "functions"
	if b.pkg == "" {
		folder, err := lambdabuild.Folder(ctx)
		if err != nil {
			return "", err
		}
		source, pkg, name = folder, "./lambdas/"+b.function, b.function
	}
	folder, err := cache()
	if err != nil {
		return "", err
	}
	fresh, err := os.MkdirTemp(folder, "building-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(fresh) //nolint:errcheck // what stays of it does no harm
	archive := filepath.Join(fresh, "package.zip")
	if err := lambdabuild.Package(ctx, source, pkg, b.arch, archive); err != nil {
		return "", err
	}
	content, err := os.ReadFile(archive) //nolint:gosec // it was just built
	if err != nil {
		return "", err
	}
	// Another version of this module may be built at the same time.
	own := filepath.Join(folder, fmt.Sprintf("%s-%s-%x.zip", name, b.arch, sha256.Sum256(content)))
	return own, os.Rename(archive, own) //nolint:gosec // both are in the cache
}

// keptFor is how long packages stay that nobody has built again.
const keptFor = 30 * day

// cache returns where packages are built, without those of long ago.
func cache() (string, error) {
	root, err := os.UserCacheDir()
	if err != nil {
		root = os.TempDir()
	}
	folder := filepath.Join(root, "jobpoller", "lambdas")
	if err := os.MkdirAll(folder, 0o750); err != nil {
		return "", err
	}
	entries, err := os.ReadDir(folder)
	if err != nil {
		return "", err
	}
	for _, entry := range entries {
		// Another app may remove it at the same time.
		if info, err := entry.Info(); err == nil && time.Since(info.ModTime()) > keptFor {
			if err := os.RemoveAll(filepath.Join(folder, entry.Name())); err != nil {
				return "", err
			}
		}
	}
	return folder, nil
}
