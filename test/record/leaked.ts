/** The credentials whose secret stands in a stored text, in clear or in any of the usual encodings. */
export function leaked(text: string, credentials: Iterable<string>): readonly string[] {
  const decoded = (text.match(/[A-Za-z0-9_-]{16,}/g) ?? []).map((word) =>
    Buffer.from(word, 'base64url').toString('latin1'),
  )
  const haystack = [text, ...decoded].join('\n')
  return [...credentials].filter((credential) => {
    const secret = Buffer.from(credential.slice(-43), 'base64url')
    const forms = [credential.slice(-42), secret.toString('latin1'), secret.toString('hex')]
    return [...forms, secret.toString('base64url').slice(0, 42)].some((form) => haystack.includes(form))
  })
}
