//! The shape of JSON values: what all values at a place have in common, as a JSON schema.

use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// What is known of the values at a place.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Shape {
    /// The simple types, in the words of JSON schemas.
    types: BTreeSet<String>,
    /// The components that are here.
    components: BTreeSet<String>,
    items: Option<Box<Shape>>,
    /// The members of objects, and whether all have them.
    members: Option<BTreeMap<String, (Shape, bool)>>,
    /// The values of objects whose keys are ids or addresses.
    values: Option<Box<Shape>>,
}

impl Shape {
    /// A value of a simple type.
    pub fn simple(kind: &str) -> Self {
        Self { types: BTreeSet::from([kind.to_owned()]), ..Self::default() }
    }

    /// A component.
    pub fn component(name: &str) -> Self {
        Self { components: BTreeSet::from([name.to_owned()]), ..Self::default() }
    }

    /// A list.
    pub fn list(items: Option<Self>) -> Self {
        Self { items: items.map(Box::new), ..Self::simple("array") }
    }

    /// An object with these members.
    pub fn object(members: BTreeMap<String, Self>) -> Self {
        let members = members.into_iter().map(|(name, shape)| (name, (shape, true))).collect();
        Self { members: Some(members), ..Self::simple("object") }
    }

    /// An object whose keys are ids or addresses.
    pub fn map(values: Option<Self>) -> Self {
        Self { values: values.map(Box::new), ..Self::simple("object") }
    }

    /// What values of both have in common.
    pub fn merge(&mut self, other: Self) {
        self.types.extend(other.types);
        if self.types.contains("number") {
            self.types.remove("integer");
        }
        self.components.extend(other.components);
        merge_boxes(&mut self.items, other.items);
        merge_boxes(&mut self.values, other.values);
        match (&mut self.members, other.members) {
            (Some(own), Some(more)) => merge_members(own, more),
            (own @ None, Some(more)) => *own = Some(more),
            (_, None) => {}
        }
    }

    /// The JSON schema.
    pub fn schema(&self) -> Value {
        let mut schema = Map::new();
        match self.types.iter().collect::<Vec<_>>().as_slice() {
            [] => {}
            [only] => drop(schema.insert("type".to_owned(), json!(only))),
            all => drop(schema.insert("type".to_owned(), json!(all))),
        }
        if let Some(items) = &self.items {
            schema.insert("items".to_owned(), items.schema());
        }
        if let Some(members) = &self.members {
            let properties = members.iter().map(|(name, (shape, _))| (name.clone(), shape.schema()));
            let properties: Map<String, Value> = properties.collect();
            schema.insert("properties".to_owned(), Value::Object(properties));
            let required: Vec<&String> =
                members.iter().filter(|(_, (_, is_required))| *is_required).map(|(name, _)| name).collect();
            if !required.is_empty() {
                schema.insert("required".to_owned(), json!(required));
            }
        }
        if let Some(values) = &self.values {
            schema.insert("additionalProperties".to_owned(), values.schema());
        }
        let links =
            self.components.iter().map(|name| json!({"$ref": format!("#/components/schemas/{name}")}));
        let mut links: Vec<Value> = links.collect();
        match (links.len(), schema.is_empty()) {
            (0, _) => Value::Object(schema),
            (1, true) => links.remove(0),
            (_, true) => json!({"anyOf": links}),
            (_, false) => {
                links.push(Value::Object(schema));
                json!({"anyOf": links})
            }
        }
    }

    /// The shape of a JSON schema that [`Self::schema`] made.
    pub fn of_schema(schema: &Value) -> Self {
        let mut shape = Self::default();
        for part in schema["anyOf"].as_array().into_iter().flatten() {
            shape.merge(Self::of_schema(part));
        }
        if let Some(link) = schema["$ref"].as_str() {
            shape.components.extend(link.rsplit('/').next().map(str::to_owned));
        }
        match &schema["type"] {
            Value::String(kind) => shape.types.extend([kind.clone()]),
            Value::Array(kinds) => {
                shape.types.extend(kinds.iter().filter_map(Value::as_str).map(str::to_owned))
            }
            _ => {}
        }
        let boxed = |name: &str| schema.get(name).map(|part| Box::new(Self::of_schema(part)));
        merge_boxes(&mut shape.items, boxed("items"));
        merge_boxes(&mut shape.values, boxed("additionalProperties"));
        if let Some(properties) = schema["properties"].as_object() {
            let is_required = |name: &String| {
                schema["required"].as_array().is_some_and(|all| all.iter().any(|one| one == name.as_str()))
            };
            let members = properties
                .iter()
                .map(|(name, part)| (name.clone(), (Self::of_schema(part), is_required(name))));
            shape.members = Some(members.collect());
        }
        shape
    }
}

fn merge_boxes(own: &mut Option<Box<Shape>>, more: Option<Box<Shape>>) {
    match (own, more) {
        (Some(own), Some(more)) => own.merge(*more),
        (own @ None, Some(more)) => *own = Some(more),
        (_, None) => {}
    }
}

fn merge_members(own: &mut BTreeMap<String, (Shape, bool)>, more: BTreeMap<String, (Shape, bool)>) {
    for (name, (_, is_required)) in own.iter_mut() {
        *is_required &= more.get(name).is_some_and(|(_, is_required)| *is_required);
    }
    for (name, (shape, _)) in more {
        match own.get_mut(&name) {
            Some((known, _)) => known.merge(shape),
            None => drop(own.insert(name, (shape, false))),
        }
    }
}
