// Package models has the API of every AWS service as data. Each operation has its
// errors and the members of its input and output, with their types, enums and limits,
// and whether they are required. It is made from botocore's models, as
// docs/reference/catalog.md says. A program that imports it carries 3 MB; a service is
// unpacked and read when it is first asked for.
//
// The types are those of package catalog. Services have no waiters and jobs here, and
// operations no IAM actions: what something is known to wait for has them in
// catalog.AWS(). [Operation] looks in both.
package models

import (
	"embed"
	"errors"
	"io/fs"

	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

//go:embed data
var embedded embed.FS

var services = catalog.Open(data())

func data() fs.FS {
	folder, err := fs.Sub(embedded, "data")
	if err != nil {
		panic(err) // the name is a valid one
	}
	return folder
}

// Load returns all of a service. The name may be any that it has: the one in
// the ARNs of Step Functions' SDK integrations ("sfn", "cloudwatchlogs"), that
// of the AWS CLI ("stepfunctions", "logs") or the SDK's; case, spaces and
// hyphens do not matter. Its error is a *catalog.NotFoundError. What it returns
// is shared and not to be changed. It is safe for concurrent use.
func Load(service string) (*catalog.Service, error) { return services.Service(service) }

// Operation returns an operation of a service, which may have any name that Load takes:
// from catalog.AWS() if a waiter or a job there calls it, else from the models. Then its
// one IAM action is the prefix of the service with the name of the operation, which a
// few operations do not follow. Its error is a *catalog.NotFoundError.
func Operation(service, name string) (*catalog.Operation, error) {
	listing, err := services.Find(service)
	if err != nil {
		return nil, err
	}
	// The catalogue may know the key as another name of another service.
	known, err := catalog.AWS().Operation(listing.Key, name)
	if err == nil && known.Service.Key == listing.Key {
		return known, nil
	}
	if err != nil && !errors.Is(err, catalog.ErrNotFound) {
		return nil, err
	}
	modeled, err := services.Operation(listing.Key, name)
	if err != nil {
		return nil, err
	}
	o := *modeled
	o.Actions = []string{o.Service.IAMPrefix + ":" + o.Name}
	return &o, nil
}

// List returns the names of all services, sorted by key.
func List() ([]catalog.Listing, error) { return services.List() }
