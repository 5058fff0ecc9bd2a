package answers

import (
	"github.com/jobpoller/jobpoller/internal/commandline"
	"github.com/jobpoller/jobpoller/statemachines/sim/mock"
)

// MockFile is a file of mocks.
type MockFile struct {
	Name  string
	Mocks *mock.Config
}

// ReadMocks reads what a file of mocks has.
func ReadMocks(name string, text []byte) (MockFile, error) {
	mocks, err := mock.Read(text)
	if err != nil {
		return MockFile{}, commandline.Errorf("%s: %w", name, err)
	}
	return MockFile{name, mocks}, nil
}

// Targets are the states and resources that a file answers, with a test case; empty for
// none.
func (f *MockFile) Targets(test string) ([]string, error) {
	names, err := f.Mocks.Names(test)
	if err != nil {
		return nil, commandline.Errorf("%s: %w", f.Name, err)
	}
	return names, nil
}
