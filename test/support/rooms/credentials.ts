/** The value of an `Authorization` header for Basic, with both halves form encoded (RFC 6749 2.3.1). */
export function basic(clientId: string, secret: string): string {
  return rawBasic(`${formEncoded(clientId)}:${formEncoded(secret)}`)
}

/** A `Basic` header of text that stands in it as it is. */
export function rawBasic(text: string | Buffer): string {
  return `Basic ${Buffer.from(text).toString('base64')}`
}

export function formEncoded(text: string): string {
  return new URLSearchParams([['', text]]).toString().slice(1)
}
