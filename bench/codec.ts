import { deserialize, serialize } from 'node:v8'
import { decodeAuthorization, encodeAuthorization } from 'express-authorization-server'
import { record } from './record'

const ways: Readonly<Record<string, readonly [encode: () => string, decode: (text: string) => unknown]>> = {
  'a tuple in JSON (what the suite does)': [
    () => encodeAuthorization(record),
    (text) => decodeAuthorization(record.id, text),
  ],
  'an object in JSON, read unchecked': [() => JSON.stringify(record), (text) => JSON.parse(text)],
  'v8.serialize in base64': [
    () => serialize(record).toString('base64'),
    (text) => deserialize(Buffer.from(text, 'base64')),
  ],
}

const times = 300_000

for (const [name, [encode, decode]] of Object.entries(ways)) {
  const text = encode()
  const [encoding, decoding] = [microseconds(encode), microseconds(() => decode(text))]
  console.log(`| ${name} | ${text.length} | ${encoding.toFixed(2)} | ${decoding.toFixed(2)} |`)
}

function microseconds(act: () => unknown): number {
  for (let warm = 0; warm < times / 10; warm++) act()
  const start = performance.now()
  for (let time = 0; time < times; time++) act()
  return ((performance.now() - start) * 1000) / times
}
