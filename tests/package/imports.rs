//! Which file of a crate uses what another one defines: paths followed to the file that defines the name, through
//! re-exports and globs. What a macro makes, and methods, which have no path, are not seen.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use proc_macro2::{TokenStream, TokenTree};
use syn::{
    Item, UseTree, Visibility,
    visit::{self, Visit},
};

use crate::sources;

/// Where a module is: the names from the root down.
pub(crate) type ModulePath = Vec<String>;

/// What one file uses of another: the names, by the modules of the two.
pub(crate) type Imports = BTreeMap<(ModulePath, ModulePath), BTreeSet<String>>;

/// A crate's files, each by its module.
pub(crate) struct Crate {
    modules: BTreeMap<ModulePath, Module>,
    files: BTreeMap<ModulePath, syn::File>,
}

/// What a module holds, be it a file or inline in one.
#[derive(Default)]
struct Module {
    /// The module whose file it stands in.
    file: ModulePath,
    defines: BTreeSet<String>,
    uses: Vec<Use>,
}

/// One leaf of a `use`.
#[derive(Clone)]
struct Use {
    path: Vec<String>,
    /// `*` for all of a module.
    name: String,
    is_private: bool,
}

/// Where a path leads.
enum Target {
    Module(ModulePath),
    /// What has this name, in the file of this module.
    Item(ModulePath, String),
}

/// A chain of re-exports is no longer.
const LONGEST: usize = 16;

impl Crate {
    /// Reads the folder whose `lib.rs` is the root.
    pub(crate) fn read(src: &Path) -> Crate {
        let files = sources::below(src).into_iter().map(|path| {
            let below = path.strip_prefix(src).expect("it is below").with_extension("");
            let names = below.iter().map(|name| name.to_str().expect("UTF-8").to_owned());
            (names.collect::<Vec<_>>(), sources::text(&path))
        });
        Crate::of(files)
    }

    /// Of the files' paths, without their extension, and their text.
    pub(crate) fn of(files: impl IntoIterator<Item = (ModulePath, String)>) -> Crate {
        let mut it = Crate { modules: BTreeMap::new(), files: BTreeMap::new() };
        for (mut path, text) in files {
            if path == ["lib"] || path.last().is_some_and(|last| last == "mod") {
                path.pop();
            }
            let file = syn::parse_file(&text).unwrap_or_else(|error| panic!("{path:?}: {error}"));
            it.add_module(path.clone(), &path, &file.items);
            it.files.insert(path, file);
        }
        it
    }

    fn add_module(&mut self, path: ModulePath, file: &ModulePath, items: &[Item]) {
        let mut module = Module { file: file.clone(), ..Module::default() };
        for item in items {
            match item {
                Item::Use(it) => {
                    let is_private = matches!(it.vis, Visibility::Inherited);
                    leaves(&it.tree, &mut Vec::new(), is_private, &mut module.uses);
                }
                Item::Mod(it) => {
                    if let Some((_, items)) = &it.content {
                        let inner = [path.clone(), vec![it.ident.to_string()]].concat();
                        self.add_module(inner, file, items);
                    }
                }
                _ => module.defines.extend(defined(item)),
            }
        }
        self.modules.insert(path, module);
    }

    /// Follows `path`, which stands in `module`; `None` where it leaves the crate.
    fn follow(&self, module: &ModulePath, path: &[String], hops: usize) -> Option<Target> {
        let mut at = module.clone();
        let mut rest = path;
        while let Some((first, others)) = rest.split_first() {
            match first.as_str() {
                "crate" => at.clear(),
                "self" => {}
                "super" => _ = at.pop(),
                _ => break,
            }
            rest = others;
        }
        let leaves = rest.len() == path.len();
        for (index, name) in rest.iter().enumerate() {
            match self.look_up(&at, name, hops) {
                Some(Target::Module(inner)) => at = inner,
                item @ Some(Target::Item(..)) => return item,
                // A macro's name, or what a macro made; and at the start, a crate's or a local one.
                None if leaves && index == 0 => return None,
                None => {
                    return Some(Target::Item(self.modules.get(&at)?.file.clone(), name.clone()));
                }
            }
        }
        Some(Target::Module(at))
    }

    fn look_up(&self, module: &ModulePath, name: &str, hops: usize) -> Option<Target> {
        let inner = [module.clone(), vec![name.to_owned()]].concat();
        if self.modules.contains_key(&inner) {
            return Some(Target::Module(inner));
        }
        let it = self.modules.get(module)?;
        if it.defines.contains(name) {
            return Some(Target::Item(it.file.clone(), name.to_owned()));
        }
        if hops == LONGEST {
            return None;
        }
        let named = it.uses.iter().find(|it| it.name == name);
        if let Some(named) = named {
            return self.follow(module, &named.path, hops + 1);
        }
        it.uses.iter().filter(|it| it.name == "*").find_map(|glob| {
            match self.follow(module, &glob.path, hops + 1)? {
                Target::Module(all) if all != *module => self.look_up(&all, name, hops + 1),
                _ => None,
            }
        })
    }

    /// What each file uses of each other.
    pub(crate) fn imports(&self) -> Imports {
        let mut imports = Imports::new();
        for (path, file) in &self.files {
            let mut reader =
                Reader { of: self, file: path, module: path.clone(), imports: &mut imports };
            reader.visit_file(file);
        }
        imports
    }
}

/// The names that `item` brings into its module.
fn defined(item: &Item) -> Option<String> {
    let name = match item {
        Item::Const(it) => &it.ident,
        Item::Enum(it) => &it.ident,
        Item::Fn(it) => &it.sig.ident,
        Item::Macro(it) => it.ident.as_ref()?,
        Item::Static(it) => &it.ident,
        Item::Struct(it) => &it.ident,
        Item::Trait(it) => &it.ident,
        Item::Type(it) => &it.ident,
        _ => return None,
    };
    Some(name.to_string())
}

fn leaves(tree: &UseTree, path: &mut Vec<String>, is_private: bool, into: &mut Vec<Use>) {
    let mut leaf = |last: Option<String>, name: String| {
        let path = path.iter().cloned().chain(last).collect();
        into.push(Use { path, name, is_private });
    };
    match tree {
        UseTree::Path(it) => {
            path.push(it.ident.to_string());
            leaves(&it.tree, path, is_private, into);
            path.pop();
        }
        UseTree::Name(it) if it.ident == "self" => {
            let name = path.last().cloned().unwrap_or_default();
            leaf(None, name);
        }
        UseTree::Name(it) => leaf(Some(it.ident.to_string()), it.ident.to_string()),
        UseTree::Rename(it) if it.ident == "self" => leaf(None, it.rename.to_string()),
        UseTree::Rename(it) => leaf(Some(it.ident.to_string()), it.rename.to_string()),
        UseTree::Glob(_) => leaf(None, "*".to_owned()),
        UseTree::Group(it) => {
            it.items.iter().for_each(|tree| leaves(tree, path, is_private, into));
        }
    }
}

/// Walks through one file.
struct Reader<'a> {
    of: &'a Crate,
    file: &'a ModulePath,
    module: ModulePath,
    imports: &'a mut Imports,
}

impl Reader<'_> {
    fn comes_by(&mut self, path: &[String]) {
        if let Some(Target::Item(file, name)) = self.of.follow(&self.module, path, 0)
            && file != *self.file
        {
            let names = self.imports.entry((self.file.clone(), file)).or_default();
            names.insert(name);
        }
    }

    /// The paths among a macro's arguments.
    fn comes_by_tokens(&mut self, tokens: TokenStream) {
        let mut path = Vec::new();
        // How many colons stand before the next token, and whether a dot does.
        let (mut colons, mut is_member) = (0, false);
        for token in tokens {
            match token {
                TokenTree::Ident(name) => {
                    if colons != 2 {
                        self.comes_by(&std::mem::take(&mut path));
                    }
                    if !is_member {
                        path.push(name.to_string());
                    }
                    (colons, is_member) = (0, false);
                }
                TokenTree::Punct(it) if it.as_char() == ':' => colons += 1,
                other => {
                    self.comes_by(&std::mem::take(&mut path));
                    is_member = matches!(&other, TokenTree::Punct(it) if it.as_char() == '.');
                    colons = 0;
                    if let TokenTree::Group(group) = other {
                        self.comes_by_tokens(group.stream());
                    }
                }
            }
        }
        self.comes_by(&path);
    }
}

impl<'ast> Visit<'ast> for Reader<'_> {
    fn visit_item_mod(&mut self, it: &'ast syn::ItemMod) {
        // Only what is inline: a file of its own is read by itself.
        if it.content.is_some() {
            self.module.push(it.ident.to_string());
            visit::visit_item_mod(self, it);
            self.module.pop();
        }
    }

    /// A re-export is no import: what is used of it has a path elsewhere in the file.
    fn visit_item_use(&mut self, it: &'ast syn::ItemUse) {
        let is_private = matches!(it.vis, Visibility::Inherited);
        let mut uses = Vec::new();
        leaves(&it.tree, &mut Vec::new(), is_private, &mut uses);
        for leaf in uses.iter().filter(|leaf| leaf.is_private && leaf.name != "*") {
            self.comes_by(&leaf.path);
        }
    }

    fn visit_visibility(&mut self, _: &'ast Visibility) {}

    fn visit_path(&mut self, it: &'ast syn::Path) {
        if it.leading_colon.is_none() {
            let path: Vec<_> = it.segments.iter().map(|part| part.ident.to_string()).collect();
            self.comes_by(&path);
        }
        visit::visit_path(self, it);
    }

    fn visit_macro(&mut self, it: &'ast syn::Macro) {
        visit::visit_macro(self, it);
        self.comes_by_tokens(it.tokens.clone());
    }
}
