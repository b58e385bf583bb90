//! As much of JSON Schema as this crate's schemas use; an unknown keyword is a failure, not a pass.

use serde_json::{Map, Value, json};

pub(crate) struct Schema(Value);

impl Schema {
    pub(crate) fn new(text: &str) -> Self {
        Self(serde_json::from_str(text).expect("a schema is JSON"))
    }

    /// Everything about a value that the schema does not allow.
    pub(crate) fn faults(&self, value: &Value) -> Vec<String> {
        self.check(&self.0, value, "")
    }

    fn check(&self, schema: &Value, value: &Value, at: &str) -> Vec<String> {
        let schema = schema.as_object().expect("a schema is an object");
        let mut faults = Vec::new();
        for (keyword, wanted) in schema {
            let holds = match keyword.as_str() {
                "$schema" | "$defs" | "title" | "description" | "additionalProperties" => true,
                "$ref" => {
                    let name = wanted
                        .as_str()
                        .and_then(|name| name.strip_prefix("#/$defs/"))
                        .expect("a local reference");
                    faults.extend(self.check(&self.0["$defs"][name], value, at));
                    true
                }
                "type" => has_type(value, wanted.as_str().unwrap()),
                "const" => value == wanted,
                "enum" => wanted.as_array().unwrap().contains(value),
                "minimum" => value
                    .as_f64()
                    .is_none_or(|number| number >= wanted.as_f64().unwrap()),
                "maximum" => value
                    .as_f64()
                    .is_none_or(|number| number <= wanted.as_f64().unwrap()),
                "pattern" => {
                    assert_eq!(wanted, "^[0-9]+$", "the only pattern this check knows");
                    let is_decimal =
                        |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
                    value.as_str().is_none_or(is_decimal)
                }
                "minItems" => value
                    .as_array()
                    .is_none_or(|items| items.len() as u64 >= wanted.as_u64().unwrap()),
                "maxItems" => value
                    .as_array()
                    .is_none_or(|items| items.len() as u64 <= wanted.as_u64().unwrap()),
                "items" => {
                    for (number, item) in value.as_array().into_iter().flatten().enumerate() {
                        faults.extend(self.check(wanted, item, &format!("{at}[{number}]")));
                    }
                    true
                }
                "required" => {
                    let names = || {
                        wanted
                            .as_array()
                            .unwrap()
                            .iter()
                            .map(|name| name.as_str().unwrap())
                    };
                    value
                        .as_object()
                        .is_none_or(|fields| names().all(|name| fields.contains_key(name)))
                }
                "properties" => {
                    let fields = value.as_object();
                    for (name, field) in fields.into_iter().flatten() {
                        match wanted.get(name) {
                            Some(property) => {
                                faults.extend(self.check(property, field, &format!("{at}.{name}")));
                            }
                            None if schema.get("additionalProperties") == Some(&json!(false)) => {
                                faults.push(format!("{at}.{name}: unknown"));
                            }
                            None => {}
                        }
                    }
                    true
                }
                "oneOf" => {
                    let passes = |choice: &&Value| self.check(choice, value, at).is_empty();
                    wanted.as_array().unwrap().iter().filter(passes).count() == 1
                }
                other => panic!("this check does not know the keyword {other:?}"),
            };
            if !holds {
                faults.push(format!("{at}: not {keyword} {wanted}: {value}"));
            }
        }
        faults
    }
}

fn has_type(value: &Value, name: &str) -> bool {
    match name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        other => panic!("this check does not know the type {other:?}"),
    }
}

/// The document with one part changed, for every part and every kind of change: taken away, given another type, another
/// number or word, an unknown field, one item more or less.
pub(crate) fn changes(document: &Value) -> Vec<Value> {
    let mut all = Vec::new();
    changed_parts(document, &mut |part| all.push(part));
    all
}

fn changed_parts(value: &Value, emit: &mut dyn FnMut(Value)) {
    for other in [
        json!(-1),
        json!(0),
        json!(1),
        json!(2),
        json!(12),
        json!(13),
        json!(1.5),
        json!(4_294_967_296_u64),
    ] {
        emit(other);
    }
    for other in [json!(null), json!("word"), json!(true), json!([]), json!({})] {
        emit(other);
    }
    match value {
        Value::Object(fields) => {
            emit(json!({}));
            let mut more = fields.clone();
            more.insert("unknown".to_owned(), json!(1));
            emit(Value::Object(more));
            for (name, field) in fields {
                let without: Map<String, Value> = fields
                    .iter()
                    .filter(|(other, _)| *other != name)
                    .map(|(name, field)| (name.clone(), field.clone()))
                    .collect();
                emit(Value::Object(without));
                changed_parts(field, &mut |part| {
                    let mut changed = fields.clone();
                    changed.insert(name.clone(), part);
                    emit(Value::Object(changed));
                });
            }
        }
        Value::Array(items) => {
            for number in 0..items.len() {
                let mut without = items.clone();
                without.remove(number);
                emit(Value::Array(without));
                changed_parts(&items[number], &mut |part| {
                    let mut changed = items.clone();
                    changed[number] = part;
                    emit(Value::Array(changed));
                });
            }
            if let Some(last) = items.last() {
                let mut more = items.clone();
                more.push(last.clone());
                emit(Value::Array(more));
            }
        }
        _ => {}
    }
}
