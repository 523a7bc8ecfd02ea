import { mistakeInUrl, storeVariable } from '../stores/from/store-from'
import { rules } from './lint'

export interface Flag {
  readonly type: 'boolean' | 'string'
  readonly multiple?: boolean
  readonly unit?: 'value' | 'seconds'
  readonly meaning: string
  readonly member?: string | undefined
  readonly mistakeIn?: (value: string) => string | undefined
}

export type Flags = Readonly<Record<string, Flag>>

const flag = (meaning: string) => ({ type: 'boolean', meaning }) as const
export const text = (meaning: string, member?: string) =>
  ({ type: 'string', unit: 'value', meaning, member }) as const
const texts = (meaning: string, member?: string) => ({ ...text(meaning, member), multiple: true }) as const
const seconds = (meaning: string) =>
  ({ ...text(meaning), unit: 'seconds', mistakeIn: mistakeInSeconds }) as const

const mistakeInSeconds = (value: string) => (/^\d+$/.test(value) ? undefined : 'must be whole seconds.')
const mistakeInRule = (rule: string) =>
  rules.some((each) => each.rule === rule)
    ? undefined
    : `names ${rule}, which is not a rule; lint --rules lists all rules.`

export const memberOf = (name: string, { member, multiple }: Flag): string =>
  member ?? name.replaceAll('-', '_') + (multiple === true ? 's' : '')

export const everywhere = {
  json: flag('write JSON'),
  help: flag('show this text'),
  version: flag('show the version of the package'),
}

export const ofStore = {
  store: {
    ...text('URL as storeFrom() takes it; default: the environment variable STORE_URL', storeVariable),
    mistakeIn: (url: string) =>
      url === ''
        ? 'must be a URL such as redis://localhost:6379, or be in the environment as STORE_URL.'
        : mistakeInUrl(url),
  },
}

export const fixed = {
  type: text('confidential or public; required', 'client_type'),
  'client-id': text('an existing identifier, for a client that moves here'),
  'secret-hash': texts('the hashClientSecret() of an existing secret; issues none', 'client_secret_hashes'),
}

export const changeable = {
  scope: text('scope values that the client may request, separated by spaces; required'),
  name: text('the name that the resource owner sees', 'client_name'),
  'redirect-uri': texts('a complete URI'),
  'post-logout-redirect-uri': texts('a URI to which a logout may lead'),
  'grant-type': texts('default authorization_code'),
  'response-type': texts('default code, for the grant type authorization_code'),
  'auth-method': text('the only method of authentication of the client', 'token_endpoint_auth_method'),
  'access-token-lifetime': seconds('the lifetime of an access token, at most that of the server'),
  'refresh-token-lifetime': seconds('the lifetime of a refresh token since the last refresh, as above'),
  'grant-lifetime': seconds('the absolute end of a grant since its approval, at most that of the server'),
  'may-introspect': flag('let the client introspect tokens, as a resource server does'),
  'loopback-redirect-uris': flag('allow any port on the loopback interface, for a native app'),
  'dynamic-redirect-query': flag('let requests append a query to a registered URI'),
  'insecure-redirect-uris': flag('allow http on any host; a page warns the resource owner'),
  description: text('a sentence for the consent page'),
  'client-uri': text('the home page of the client'),
  'logo-uri': text('the logo of the client, at https'),
  'policy-uri': text('the privacy policy of the client'),
  'tos-uri': text('the terms of service of the client'),
}

export const own = {
  member: texts('name=value, a member of a plug-in such as subject_type=pairwise; JSON or a text'),
  remove: texts('the name of an option such as logo-uri, or of a member of a plug-in: it gets the default'),
  deleted: flag('list the deleted clients instead'),
  repeat: flag('finish a failed rotation; the variable CLIENT_SECRET holds its secret'),
  finish: flag('issue no secret; drop the old secret, and only the current secret works'),
  issuer: texts('of a server with the option authorizations: ends what the client got from it'),
  allow: { ...texts('ignore this rule'), mistakeIn: mistakeInRule },
  rules: flag('list all rules, and check nothing'),
  print: flag('print the SQL, and connect to no database'),
}

export const allFlags = { ...everywhere, ...ofStore, ...fixed, ...changeable, ...own }
