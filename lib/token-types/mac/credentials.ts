/** What a request carries behind the scheme `MAC`, complete and well formed. */
export interface MacCredentials {
  /** The access token, which is the name of the key. */
  readonly id: string
  /** Seconds: `since: 'epoch'` is a time, `since: 'issue'` the age of the key, which the nonce begins with. */
  readonly time: { readonly since: 'epoch' | 'issue'; readonly seconds: number }
  /** As it stands on the wire; undefined where the nonce has the age. */
  readonly ts: string | undefined
  readonly nonce: string
  readonly ext: string
  readonly mac: string
}

const maximumLength = 2048
// The drafts' plain strings: printable ASCII without quote and backslash, so that nothing is ever escaped.
const attribute = /(id|ts|nonce|ext|mac)="([\x20\x21\x23-\x5B\x5D-\x7E]*)"/iy
const comma = /[ \t]*,[ \t]*/y

const plain = /^[\x21\x23-\x5B\x5D-\x7E]{1,128}$/
const withAge = /^(0|[1-9]\d{0,11}):[\x21\x23-\x5B\x5D-\x7E]{1,128}$/
const timestamp = /^[1-9]\d{0,11}$/
const base64 = /^(?:[A-Za-z0-9+/]{27}|[A-Za-z0-9+/]{43})=$/

/**
 * Reads what stands behind the scheme: `id`, `nonce` and `mac`, each once and quoted, perhaps `ts` and `ext`, in any
 * order. Undefined when it is anything else; a `bodyhash`, which a guard could not check, is something else, too.
 */
export function parseMacCredentials(text: string): MacCredentials | undefined {
  const attributes = attributesOf(text)
  if (attributes === undefined) return undefined
  const { id = '', ts, nonce = '', ext = '', mac: shownMac = '' } = Object.fromEntries(attributes)
  if (!plain.test(id) || !base64.test(shownMac)) return undefined
  const time = timeOf(ts, nonce)
  return time === undefined ? undefined : { id, time, ts, nonce, ext, mac: shownMac }
}

function timeOf(ts: string | undefined, nonce: string): MacCredentials['time'] | undefined {
  if (ts === undefined) {
    const [, age] = withAge.exec(nonce) ?? []
    return age === undefined ? undefined : { since: 'issue', seconds: Number(age) }
  }
  return timestamp.test(ts) && plain.test(nonce) ? { since: 'epoch', seconds: Number(ts) } : undefined
}

function attributesOf(text: string): ReadonlyMap<string, string> | undefined {
  if (text.length > maximumLength) return undefined
  const attributes = new Map<string, string>()
  for (let at = 0; ;) {
    attribute.lastIndex = at
    const [whole = '', name = '', value = ''] = attribute.exec(text) ?? []
    const known = name.toLowerCase()
    if (whole === '' || attributes.has(known)) return undefined
    attributes.set(known, value)
    at += whole.length
    if (at === text.length) return attributes
    comma.lastIndex = at
    const [separator] = comma.exec(text) ?? []
    if (separator === undefined) return undefined
    at += separator.length
  }
}
