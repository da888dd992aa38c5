// Checking whenever the reader saves a file.

package main

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// watchAll watches the exercise that is open. When it is solved, it goes on with the next one,
// until all are solved or ctx ends.
func (p *practice) watchAll(ctx context.Context) error {
	for ctx.Err() == nil {
		saved := time.Time{} // of an exercise that was open before, check what is there
		if len(p.inState(p.all, open)) == 0 {
			if len(p.rest(p.all)) == 0 {
				break
			}
			saved = time.Now()
		}
		if err := alone(p.root, p.next); err != nil {
			return err
		}
		if err := p.watchFrom(ctx, p.inState(p.all, open)[0], saved); err != nil {
			return err
		}
	}
	return nil
}

// watch checks an exercise whenever a file next to it was saved, until it is solved or ctx ends.
func (p *practice) watch(ctx context.Context, e exercise) error {
	return p.watchFrom(ctx, e, time.Time{})
}

// watchFrom is watch for files that were saved after this time.
func (p *practice) watchFrom(ctx context.Context, e exercise, checked time.Time) error {
	if err := p.mayCheck(e); err != nil {
		return err
	}
	const lookEvery = 300 * time.Millisecond
	for {
		if p.savedAfter(e, checked) {
			checked = time.Now() // before the check, which takes its time
			err := p.check(ctx, []exercise{e})
			if err == nil || ctx.Err() != nil {
				return nil
			}
			p.printf("%v; save a file to check again, Ctrl-C ends\n\n", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(lookEvery):
		}
	}
}

// savedAfter reports whether a Go file in the folder of the exercise was saved after this time.
func (p *practice) savedAfter(e exercise, t time.Time) bool {
	files, _ := filepath.Glob(filepath.Join(p.root, filepath.Dir(e.file), "*.go")) // the folder has no pattern in it
	return slices.ContainsFunc(files, func(file string) bool {
		info, err := os.Stat(file)
		return err == nil && info.ModTime().After(t)
	})
}
