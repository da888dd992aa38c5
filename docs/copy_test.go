// What a reader would copy out of the book with the code that it prints.

package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Readers copy what a page prints. What a step can afford, because nothing fails in
// it, must not end a program of theirs later.
func TestPrintedCodeCanBeCopied(t *testing.T) {
	tree := root(t)
	for _, file := range append(inChapters(t, tree, "step_*.go"), embedded(t, tree)...) {
		for _, problem := range notToBeCopied(t, file, readFile(t, tree, file)) {
			t.Error(problem)
		}
	}
}

// The rules, by what each of them must find, and what it must not.
func TestWhatIsNotToBeCopiedIsFound(t *testing.T) {
	refused := []string{
		`h.DeleteFunc = nil; _ = H{DeleteFunc: func(obj any) { print(obj.(*Pod).Name) }}`,
		`_ = H{DeleteFunc: func(obj any) { if gone, ok := obj.(Tombstone); ok { print(gone.Obj.(*Pod).Name) } }}`,
		`show := func(o any) { print(o.(*Pod).Name) }; _ = H{DeleteFunc: func(obj any) { show(obj) }}`,
		`show := func(o any) { print(o.(*Pod).Name) }; _ = H{DeleteFunc: show}`,
		`err := errors.Join(queue.Add(a), queue.Delete(a))`,
		`cache.WaitFor(ctx, "", synced)`,
		`pods := cache.NewStore(key); pods.Add(obj)`,
		`index, patience := cache.NewIndexer(key, indexers), time.Second; go func() { index.Update(pod) }()`,
	}
	fine := []string{
		`_ = H{DeleteFunc: func(obj any) { if pod, ok := obj.(*Pod); ok { print(pod.Name) } }}`,
		`_ = H{AddFunc: func(obj any) { print(obj.(*Pod).Name) }}`,
		`show := func() { print(list[0].(*Pod).Name) }; _ = H{DeleteFunc: func(any) { show() }}`,
		`err := errors.Join(err, errors.New("there is none"))`,
		`err := errors.Join(failed...)`,
		`if !cache.WaitFor(ctx, "", synced) { return }`,
		`pods := cache.NewStore(key); err := pods.Add(obj); queue := workqueue.New(); queue.Add(obj)`,
		`queue := deltafifo.New(deltafifo.Options{}); queue.Close(); pods := cache.NewStore(key); pods.Bookmark("")`,
	}
	for i, code := range slices.Concat(refused, fine) {
		got := notToBeCopied(t, "step.go", "package main\nfunc f() {\n"+code+"\n}\n")
		if want := i < len(refused); (len(got) > 0) != want {
			t.Errorf("%s\ngot %q; want a problem: %t", code, got, want)
		}
	}
	method := "package main\nfunc (p printer) OnDelete(obj any) { print(obj.(*Pod).Name) }\n"
	if got := notToBeCopied(t, "step.go", method); len(got) != 1 {
		t.Errorf("%s\ngot %q, want one problem", method, got)
	}
}

var embeds = regexp.MustCompile(`<!-- code (\S+\.go) `)

// embedded are the Go files, without tests, that pages print declarations of.
func embedded(t *testing.T, root fs.FS) (files []string) {
	t.Helper()
	pages, err := fs.Glob(root, "docs/*.md")
	if err != nil || len(pages) == 0 {
		t.Fatalf("found no pages: %v", err)
	}
	for _, page := range append(pages, "README.md") {
		for _, match := range embeds.FindAllStringSubmatch(readFile(t, root, page), -1) {
			if name := match[1]; !strings.Contains(name, "/step_") && !strings.HasSuffix(name, "_test.go") {
				files = append(files, name)
			}
		}
	}
	slices.Sort(files)
	return slices.Compact(files)
}

// notToBeCopied returns the problems of a file, a line each.
func notToBeCopied(t *testing.T, name, text string) []string {
	t.Helper()
	c := copied{fset: token.NewFileSet(), stores: map[string]bool{}, checked: map[ast.Node]bool{},
		functions: map[string]*ast.FuncLit{}}
	file, err := parser.ParseFile(c.fset, name, text, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, c.declare)
	ast.Inspect(file, c.look)
	return c.problems
}

// A copied is what is known of a file.
type copied struct {
	fset      *token.FileSet
	functions map[string]*ast.FuncLit // by the variable that they are assigned to
	stores    map[string]bool         // variables that hold a store or a queue
	checked   map[ast.Node]bool       // type assertions that say whether they hold
	problems  []string
}

func (c *copied) refuse(node ast.Node, problem string) {
	c.problems = append(c.problems, c.fset.Position(node.Pos()).String()+": "+problem)
}

// makesStore are the functions that make a store or a queue whose writes return errors.
var makesStore = regexp.MustCompile(`^(cache\.New(Store|Indexer|DeltaFIFO|RealFIFO)\w*|(store|deltafifo)\.New)$`)

// declare notes what variables hold, and which type assertions are checked.
func (c *copied) declare(node ast.Node) bool {
	assign, ok := node.(*ast.AssignStmt)
	if !ok {
		return true
	}
	if assertion, ok := assign.Rhs[0].(*ast.TypeAssertExpr); ok && len(assign.Lhs) == 2 && len(assign.Rhs) == 1 {
		c.checked[assertion] = true
	}
	for i, value := range assign.Rhs {
		variable, ok := assign.Lhs[i].(*ast.Ident)
		if !ok {
			continue
		}
		switch value := value.(type) {
		case *ast.FuncLit:
			c.functions[variable.Name] = value
		case *ast.CallExpr:
			c.stores[variable.Name] = c.stores[variable.Name] || makesStore.MatchString(selector(value.Fun))
		}
	}
	return true
}

// look refuses what is not to be copied.
func (c *copied) look(node ast.Node) bool {
	switch node := node.(type) {
	case *ast.KeyValueExpr:
		if key, ok := node.Key.(*ast.Ident); ok && key.Name == "DeleteFunc" {
			if function := c.function(node.Value); function != nil {
				c.handleDelete(function.Type, function.Body, "")
			}
		}
	case *ast.FuncDecl:
		if node.Name.Name == "OnDelete" {
			c.handleDelete(node.Type, node.Body, "")
		}
	case *ast.CallExpr:
		calls := 0
		for _, argument := range node.Args {
			if call, ok := argument.(*ast.CallExpr); ok && !slices.Contains([]string{"errors.New", "fmt.Errorf"},
				selector(call.Fun)) {
				calls++
			}
		}
		if selector(node.Fun) == "errors.Join" && calls > 1 {
			c.refuse(node, "errors.Join of calls makes the second call even if the first has failed")
		}
	case *ast.ExprStmt:
		if call, ok := node.X.(*ast.CallExpr); ok {
			c.drop(call)
		}
	}
	return true
}

func (c *copied) function(value ast.Expr) *ast.FuncLit {
	switch value := value.(type) {
	case *ast.FuncLit:
		return value
	case *ast.Ident:
		return c.functions[value.Name]
	}
	return nil
}

// handleDelete refuses type assertions that may panic, in a function that gets a deleted
// object or its tombstone, and in those that it hands the object to. Only says which
// variable is the object; in a handler, any may be.
func (c *copied) handleDelete(function *ast.FuncType, body *ast.BlockStmt, only string) {
	var parameters []string
	for _, field := range function.Params.List {
		for _, name := range field.Names {
			parameters = append(parameters, name.Name)
		}
	}
	ast.Inspect(body, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.TypeAssertExpr:
			if variable := selector(node.X); node.Type != nil && !c.checked[node] && (only == "" || only == variable) {
				c.refuse(node, "a deleted object may be a tombstone, or one without an object: "+
					"use the type assertion with two results")
			}
		case *ast.CallExpr:
			called := c.function(node.Fun)
			if called == nil {
				break
			}
			at := 0
			for _, field := range called.Type.Params.List {
				for _, name := range field.Names {
					if at < len(node.Args) && slices.Contains(parameters, selector(node.Args[at])) {
						c.handleDelete(called.Type, called.Body, name.Name)
					}
					at++
				}
			}
		}
		return true
	})
}

// drop refuses a statement that drops the result of a call.
func (c *copied) drop(call *ast.CallExpr) {
	function, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return
	}
	if strings.HasPrefix(function.Sel.Name, "WaitFor") {
		c.refuse(call, "it goes on even if "+function.Sel.Name+" has waited in vain")
	}
	writes := []string{"Add", "Update", "Delete", "Replace", "Resync", "Index", "ByIndex", "IndexKeys", "AddIndexers",
		"Get", "GetByKey", "Pop"}
	if c.stores[selector(function.X)] && slices.Contains(writes, function.Sel.Name) {
		c.refuse(call, "it drops the error of "+selector(call.Fun))
	}
}

// selector is such as "errors.Join" or "obj"; nothing for what is no name.
func selector(expression ast.Expr) string {
	switch e := expression.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return selector(e.X) + "." + e.Sel.Name
	}
	return ""
}
