//! The crate rmpv as a filter: one line of hex in, the hex of what was decoded and encoded again out, or ERR and why.
use std::io::{stdin, stdout, BufRead, Write};

fn again(line: &str) -> Result<String, String> {
    let octets: Vec<u8> = (0..line.len() / 2)
        .map(|n| u8::from_str_radix(&line[2 * n..2 * n + 2], 16).map_err(|e| e.to_string()))
        .collect::<Result<_, _>>()?;
    let mut rest = &octets[..];
    let value = rmpv::decode::read_value(&mut rest).map_err(|e| e.to_string())?;
    if !rest.is_empty() {
        return Err("octets are left".into());
    }
    let mut out = Vec::new();
    rmpv::encode::write_value(&mut out, &value).map_err(|e| e.to_string())?;
    Ok(out.iter().map(|octet| format!("{octet:02x}")).collect())
}

fn main() {
    for line in stdin().lock().lines() {
        let Ok(line) = line else { return };
        match again(line.trim()) {
            Ok(hex) => println!("{hex}"),
            Err(why) => println!("ERR {}", why.replace('\n', " ")),
        }
        let _ = stdout().flush();
    }
}
