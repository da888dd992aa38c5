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
	for ctx.Err() == nil && len(p.inState(open))+len(p.rest()) > 0 {
		if err := p.alone(p.next); err != nil {
			return err
		}
		if err := p.watch(ctx, p.inState(open)[0]); err != nil {
			return err
		}
	}
	return nil
}

// watch checks an exercise whenever a file next to it was saved, until it is solved or ctx ends. A start
// that the reader has not changed is not checked.
func (p *practice) watch(ctx context.Context, e exercise) error {
	if err := p.alone(func() error { return p.prepare(e) }); err != nil {
		return err
	}
	const lookEvery = 300 * time.Millisecond
	for checked := (time.Time{}); ; {
		if p.savedAfter(e, checked) {
			checked = time.Now() // before the check, which takes its time
			changed, err := p.changed(e)
			if err != nil {
				return err
			}
			if len(changed) > 0 {
				err := p.check(ctx, []exercise{e})
				if err == nil || ctx.Err() != nil {
					return nil
				}
				p.printf("%v; save a file to check again, Ctrl-C ends\n\n", err)
			}
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
	files, _ := os.ReadDir(filepath.Join(p.place(e), filepath.Dir(e.file))) // without it, nothing was saved
	return slices.ContainsFunc(files, func(file os.DirEntry) bool {
		info, err := file.Info()
		return err == nil && filepath.Ext(file.Name()) == ".go" && info.ModTime().After(t)
	})
}
