// Checking links: the target is there, and so is the anchor.

package book

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"path"
	"strings"
)

// checkLink follows a link, and holds a claim to its test. Of a link out of the
// workspace it looks at the form only: nothing here asks the network.
func (b *Book) checkLink(p *page, l link) error {
	u, err := url.Parse(l.target)
	switch {
	case l.err != nil:
		return l.err
	case l.target == "":
		return fmt.Errorf("the link [%s] has no target", l.text)
	case err != nil:
		return fmt.Errorf("malformed link %s: %w", l.target, errors.Unwrap(err))
	case (u.Scheme == "http" || u.Scheme == "https") && u.Host != "":
		return nil
	case u.Scheme != "" || u.Host != "":
		return fmt.Errorf("malformed link %s: write https://host/… or a path from this page", l.target)
	case strings.HasPrefix(u.Path, "/"):
		return fmt.Errorf("dead link %s: write the path from this page, without the leading /", l.target)
	}
	file := path.Join(path.Dir(p.name), cmp.Or(u.Path, path.Base(p.name)))
	if !fs.ValidPath(file) {
		return fmt.Errorf("dead link %s: it leaves the workspace", l.target)
	}
	if _, err := fs.Stat(b.ws, file); err != nil {
		return fmt.Errorf("dead link %s: there is no %s", l.target, file)
	}
	if u.Fragment != "" {
		if err := b.checkFragment(file, u.Fragment); err != nil {
			return fmt.Errorf("dead link %s: %w", l.target, err)
		}
	}
	return b.checkClaim(file, l)
}

// checkFragment holds #fragment to the headings of a page. Lines of source
// files move, so #L10 is refused.
func (b *Book) checkFragment(file, fragment string) error {
	if path.Ext(file) != ".md" {
		return errors.New("only a heading of a .md file can be linked to (line numbers move)")
	}
	to := b.page(file)
	if to == nil {
		source, err := fs.ReadFile(b.ws, file)
		if err != nil {
			return err
		}
		to = parsePage(file, source)
	}
	if !to.anchors[fragment] {
		return fmt.Errorf("no heading of %s has the anchor #%s", file, fragment)
	}
	return nil
}
