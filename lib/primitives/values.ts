export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export const isLongSecret = (value: unknown): value is string =>
  isText(value) && Buffer.byteLength(value) >= 32

export const isRootedPath = (value: unknown): value is string => isText(value) && value.startsWith('/')

export const isWhole =
  (least: number, most: number) =>
  (value: unknown): value is number =>
    Number.isSafeInteger(value) && Number(value) >= least && Number(value) <= most

export const tenYears = 10 * 365 * 24 * 3600

export function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}

export function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every(isText)
}

export function isBoolean(value: unknown): value is boolean {
  return typeof value === 'boolean'
}

export function requireBoolean(value: unknown, what: string): boolean {
  if (isBoolean(value)) return value
  throw new TypeError(`${what} must return true or false.`)
}

export function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value)
}

export function isAbsentOr(accepts: (value: unknown) => boolean, value: unknown): boolean {
  return value === undefined || accepts(value)
}

export async function boundedText(
  body: ReadableStream<Uint8Array>,
  maximum: number,
  uri: string,
): Promise<string> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of body) {
    size += chunk.byteLength
    if (size > maximum) throw new Error(`${uri} responded with more than ${maximum} bytes.`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}
