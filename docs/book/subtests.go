// Finding subtests, so that a claim can link to one.
//
// `go test` knows the name of a subtest only when it runs. So the check finds those names that stand
// in the code as strings: the string in t.Run("name", …), and the strings in a table over which the
// test ranges. It looks into the test, and into each function with a parameter such as *testing.T
// that the test calls or hands on, in any package of the workspace.

package book

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// A subtest is what a call of t.Run runs.
type subtest struct {
	name   string
	inside []place // where its own subtests are
	skips  bool    // always
}

// A place is a part of a Go file that may call t.Run.
type place struct {
	folder   string
	tree     *ast.File
	function *ast.FuncDecl // the function around node; nil outside functions
	node     ast.Node
}

// A goPackage is the declarations of one package in a folder, by name.
type goPackage struct {
	functions map[string]place // those with a parameter such as *testing.T
	values    map[string]place // of variables
	types     map[string]ast.Expr
	subtests  map[*ast.FuncDecl][]subtest // of functions; nil while they are looked for
}

// checkSubtest returns an error unless a subtest below these places has this name, as `go test -run`
// takes it: names of subtests of subtests are joined by slashes.
func (b *Book) checkSubtest(in []place, name string) error {
	var names []string
	for _, p := range in {
		for _, s := range b.subtestsIn(p) {
			names = append(names, strconv.Quote(s.name))
			switch rest, found := strings.CutPrefix(rewriteName(name), rewriteName(s.name)); {
			case found && rest == "" && s.skips:
				return fmt.Errorf("%q never runs: it always skips", s.name)
			case found && rest == "":
				return nil
			case found && rest[0] == '/' && b.checkSubtest(s.inside, rest[1:]) == nil:
				return nil
			}
		}
	}
	slices.Sort(names)
	found := strings.Join(slices.Compact(names), ", ")
	if found == "" {
		found = "none"
	}
	return fmt.Errorf("no subtest has the name %q, as a string in t.Run or in a table; found: %s", name, found)
}

// rewriteName makes the name of a subtest what package testing makes it.
func rewriteName(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return '_'
		}
		return r
	}, name)
}

// subtestsIn returns the subtests that the code at this place runs.
func (b *Book) subtestsIn(p place) (found []subtest) {
	ast.Inspect(p.node, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CompositeLit:
			return n == p.node // what stands in a table runs below the name of its row
		case *ast.CallExpr:
			if isRun(p.tree, n) {
				found = append(found, b.subtestsOfRun(p, n)...)
				return false
			}
			inside := b.subtestsOf(b.testFunction(p, n.Fun))
			for _, s := range inside { // the function may call what it is given in any of them
				for _, arg := range n.Args {
					s.inside = append(slices.Clip(s.inside), place{p.folder, p.tree, p.function, arg})
				}
				found = append(found, s)
			}
			return len(inside) == 0
		case *ast.SelectorExpr:
			f := b.testFunction(p, n)
			found = append(found, b.subtestsOf(f)...)
			if f == nil {
				found = append(found, b.subtestsIn(place{p.folder, p.tree, p.function, n.X})...)
			}
			return false
		case *ast.Ident:
			found = append(found, b.subtestsOf(b.testFunction(p, n))...)
		}
		return true
	})
	return found
}

// subtestsOf returns the subtests of a function, or none if there is no function.
func (b *Book) subtestsOf(function *place) []subtest {
	if function == nil {
		return nil
	}
	known := b.goPackage(function.folder, function.tree.Name.Name).subtests
	if found, ok := known[function.function]; ok {
		return found
	}
	known[function.function] = nil // it may call itself
	known[function.function] = b.subtestsIn(*function)
	return known[function.function]
}

// isRun says whether this is a call such as t.Run(name, f).
func isRun(tree *ast.File, call *ast.CallExpr) bool {
	method, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || method.Sel.Name != "Run" || len(call.Args) != 2 {
		return false
	}
	receiver, ok := method.X.(*ast.Ident)
	return ok && importOf(tree, receiver.Name) == ""
}

// importOf returns the path of the package that a file imports by this name, or "".
func importOf(tree *ast.File, name string) string {
	for _, spec := range tree.Imports {
		imported := unquote(spec.Path)
		if spec.Name != nil && spec.Name.Name == name || spec.Name == nil && path.Base(imported) == name {
			return imported
		}
	}
	return ""
}

// testFunction returns the function of the workspace that an expression names, if the function has a
// parameter such as *testing.T.
func (b *Book) testFunction(p place, e ast.Expr) *place {
	folder, name, pkg := p.folder, "", p.tree.Name.Name
	switch e := e.(type) {
	case *ast.Ident:
		name = e.Name
	case *ast.SelectorExpr:
		receiver, ok := e.X.(*ast.Ident)
		if !ok {
			return nil
		}
		imported, found := strings.CutPrefix(importOf(p.tree, receiver.Name), "example.com/informer/")
		if !found {
			return nil
		}
		folder, name, pkg = imported, e.Sel.Name, path.Base(imported)
	}
	if f, ok := b.goPackage(folder, pkg).functions[name]; ok {
		return &f
	}
	return nil
}

// goPackage returns the declarations of a package. What cannot be read or parsed has none: the
// compiler says more about it.
func (b *Book) goPackage(folder, name string) goPackage {
	key := folder + " " + name
	if known, ok := b.packages[key]; ok {
		return known
	}
	found := goPackage{map[string]place{}, map[string]place{}, map[string]ast.Expr{}, map[*ast.FuncDecl][]subtest{}}
	b.packages[key] = found
	files, err := fs.Glob(b.ws, folder+"/*.go")
	if err != nil {
		return found
	}
	for _, file := range files {
		parsed, err := b.parseTestFile(file)
		if err != nil || parsed.tree.Name.Name != name {
			continue
		}
		for _, d := range parsed.tree.Decls {
			found.add(folder, parsed.tree, d)
		}
	}
	return found
}

func (g goPackage) add(folder string, tree *ast.File, d ast.Decl) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		isTest := slices.ContainsFunc(d.Type.Params.List, func(f *ast.Field) bool {
			return strings.Contains(types.ExprString(f.Type), "testing.")
		})
		if d.Recv == nil && d.Body != nil && isTest {
			g.functions[d.Name.Name] = place{folder, tree, d, d.Body}
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				g.types[spec.Name.Name] = spec.Type
			case *ast.ValueSpec:
				for i, name := range spec.Names {
					if i < len(spec.Values) {
						g.values[name.Name] = place{folder, tree, nil, spec.Values[i]}
					}
				}
			}
		}
	}
}

// subtestsOfRun returns the subtests of a call of t.Run: one if its first argument is a string, or
// one for each row of a table.
func (b *Book) subtestsOfRun(p place, run *ast.CallExpr) (found []subtest) {
	body := place{p.folder, p.tree, p.function, run.Args[1]}
	function, ok := run.Args[1].(*ast.FuncLit)
	skips := ok && slices.ContainsFunc(function.Body.List, isSkip)
	if literal, ok := run.Args[0].(*ast.BasicLit); ok && literal.Kind == token.STRING {
		return []subtest{{unquote(literal), []place{body}, skips}}
	}
	variable, field := run.Args[0], ""
	if selector, ok := variable.(*ast.SelectorExpr); ok {
		variable, field = selector.X, selector.Sel.Name
	}
	loop := loopOver(p.function, variable, run)
	if loop == nil {
		return nil
	}
	table, at := b.table(p, loop.X)
	if table == nil {
		return nil
	}
	for _, row := range table.Elts {
		name := row
		if pair, ok := row.(*ast.KeyValueExpr); ok {
			if name = pair.Value; isIdent(loop.Key, variable) {
				name = pair.Key
			}
		}
		if field != "" {
			name = b.field(at, table.Type, name, field)
		}
		if literal, ok := name.(*ast.BasicLit); ok && literal.Kind == token.STRING {
			inside := []place{body, {at.folder, at.tree, at.function, row}}
			found = append(found, subtest{unquote(literal), inside, skips})
		}
	}
	return found
}

// loopOver returns the innermost loop around a call that sets the variable, or nil.
func loopOver(function *ast.FuncDecl, variable ast.Expr, call *ast.CallExpr) (innermost *ast.RangeStmt) {
	if function == nil {
		return nil
	}
	ast.Inspect(function, func(n ast.Node) bool {
		loop, ok := n.(*ast.RangeStmt)
		if ok && loop.Pos() < call.Pos() && call.End() <= loop.End() &&
			(isIdent(loop.Key, variable) || isIdent(loop.Value, variable)) {
			innermost = loop
		}
		return true
	})
	return innermost
}

// isIdent says whether both are the same name.
func isIdent(a, b ast.Expr) bool {
	x, isName := a.(*ast.Ident)
	y, isAlso := b.(*ast.Ident)
	return isName && isAlso && x.Name == y.Name
}

// table returns the literal that a loop ranges over, and its place: the literal itself, or that of a
// variable of the function or of the package. It returns nil if it finds none.
func (b *Book) table(p place, e ast.Expr) (*ast.CompositeLit, place) {
	name, ok := e.(*ast.Ident)
	if !ok {
		literal, _ := e.(*ast.CompositeLit)
		return literal, p
	}
	at := b.goPackage(p.folder, p.tree.Name.Name).values[name.Name]
	ast.Inspect(p.function, func(n ast.Node) bool {
		if assigned, ok := n.(*ast.AssignStmt); ok && len(assigned.Lhs) == 1 && isIdent(assigned.Lhs[0], name) {
			at = place{p.folder, p.tree, p.function, assigned.Rhs[0]}
		}
		return true
	})
	literal, _ := at.node.(*ast.CompositeLit)
	return literal, at
}

// field returns the value of a field in a row of a table, or nil. of is the type of the table.
func (b *Book) field(at place, of, row ast.Expr, field string) ast.Expr {
	if pointer, ok := row.(*ast.UnaryExpr); ok {
		row = pointer.X
	}
	values, ok := row.(*ast.CompositeLit)
	if !ok {
		return nil
	}
	number := b.numberOf(at, of, field)
	for i, value := range values.Elts {
		pair, ok := value.(*ast.KeyValueExpr)
		if ok && isIdent(pair.Key, ast.NewIdent(field)) {
			return pair.Value
		}
		if !ok && i == number {
			return value
		}
	}
	return nil
}

// numberOf returns the number of a field in the type of the rows of a table, or -1.
func (b *Book) numberOf(at place, table ast.Expr, field string) int {
	var row ast.Expr
	switch table := table.(type) {
	case *ast.ArrayType:
		row = table.Elt
	case *ast.MapType:
		row = table.Value
	}
	if pointer, ok := row.(*ast.StarExpr); ok {
		row = pointer.X
	}
	if name, ok := row.(*ast.Ident); ok {
		row = b.goPackage(at.folder, at.tree.Name.Name).types[name.Name]
	}
	structure, ok := row.(*ast.StructType)
	if !ok {
		return -1
	}
	var names []string
	for _, f := range structure.Fields.List {
		for _, name := range f.Names {
			names = append(names, name.Name)
		}
	}
	return slices.Index(names, field)
}

// unquote returns the string of a literal.
func unquote(literal *ast.BasicLit) string {
	text, _ := strconv.Unquote(literal.Value) // the parser has accepted it
	return text
}
