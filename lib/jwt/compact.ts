import { isRecord } from '../primitives/values'

// RFC 7515 3.1: three parts in base64url. One spelling only: no padding, white space or stray bits.
export function compactParts(text: string, longest: number) {
  const parts = text.length > longest ? [] : text.split('.')
  const [header, payload, signature, fourth] = parts.map((part) => Buffer.from(part, 'base64url'))
  if (header === undefined || payload === undefined || signature === undefined || fourth !== undefined)
    return undefined
  const isExact = [header, payload, signature].every(
    (bytes, index) => bytes.length > 0 && bytes.toString('base64url') === parts[index],
  )
  return isExact ? { header, payload } : undefined
}

// RFC 7519 7.2: UTF-8.
const decoder = new TextDecoder('utf-8', { fatal: true })

export function jsonIn(bytes: Buffer | undefined): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(decoder.decode(bytes))
    return isRecord(value) ? value : undefined
  } catch {
    return undefined
  }
}
