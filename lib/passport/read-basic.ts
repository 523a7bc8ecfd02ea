import { BasicStrategy } from 'passport-http'

type Credentials = readonly [clientId: string, secret: string]

/** Parses a header with passport-http, which calls back before it returns. */
class BasicReader extends BasicStrategy {
  private credentials: Credentials | undefined
  private readonly headers = { authorization: '' }
  // passport-http reads only the headers of a request.
  private readonly request: Parameters<BasicStrategy['authenticate']>[0] = Object.create({
    headers: this.headers,
  })
  readonly success = (): void => {}
  readonly fail = (): void => {}

  constructor() {
    super((clientId, secret, done) => {
      this.credentials = [clientId, secret]
      done(null, true)
    })
  }

  read(encoded: string): Credentials | undefined {
    this.headers.authorization = `Basic ${encoded}`
    this.authenticate(this.request)
    const { credentials } = this
    // The reader lives as long as the process, and must not keep the secret.
    this.headers.authorization = ''
    this.credentials = undefined
    if (credentials === undefined) return undefined
    const [clientId, secret] = credentials
    // Four characters of base64 are three bytes. As many characters as bytes mean that nothing is cut, and all is ASCII.
    const isWhole = clientId.length + 1 + secret.length === Math.floor((encoded.length * 3) / 4)
    return isWhole && !clientId.includes(replacement) && !secret.includes(replacement)
      ? credentials
      : undefined
  }
}

const replacement = '\uFFFD'
const reader = new BasicReader()

/**
 * The identifier and the secret, still form encoded; undefined for credentials that passport-http does not read as they
 * are: it accepts no empty secret, cuts a secret at a colon, and replaces bytes that are not UTF-8.
 *
 * @param encoded base64, without padding.
 */
export function readBasic(encoded: string): Credentials | undefined {
  return reader.read(encoded)
}
