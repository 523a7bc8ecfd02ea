import type { ClientAuthenticationMethod } from './client-authentication/method'
import { builtInMethods } from './protocol/authentication-method'
import { isRecord, isText, isTexts, type OptionsReader } from './protocol/configuration'

const methodsOption = 'clientAuthenticationMethods'
const methodsMessage =
  'must be a method of client authentication: name, read and verify, perhaps scheme and others.'

type Wrong = (field: string, message: string) => void

/** Reads the methods of client authentication that a host adds to the built-in ones. */
export function resolveAuthenticationMethods(reading: OptionsReader): readonly ClientAuthenticationMethod[] {
  const names = new Set(builtInMethods)
  const schemes = new Set(['basic'])
  const given = reading.optional<readonly unknown[]>(methodsOption, [], isList, 'must be a list of methods.')
  for (const [index, method] of given.entries()) {
    const wrong: Wrong = (field, message) => reading.wrong(`${methodsOption}[${index}]${field}`, message)
    if (isRecord(method)) checkMethod(method, names, schemes, wrong)
    else wrong('', methodsMessage)
  }
  // Named is enough: of a method with other mistakes, no client need hear as well.
  return Object.freeze(given.filter(isMethod))
}

// RFC 7591 2: a registered name or an absolute URI. It goes into metadata and messages, and is never `__proto__`.
const nameGrammar = /^[A-Za-z][\x21\x23-\x5B\x5D-\x7E]*$/
// RFC 9110 11.1: a scheme is a token.
const schemeGrammar = /^[\w!#$%&'*+.^`|~-]+$/
const signedMethods: ReadonlySet<unknown> = new Set(['private_key_jwt', 'client_secret_jwt'])

function checkMethod(
  method: Readonly<Record<string, unknown>>,
  names: Set<string>,
  schemes: Set<string>,
  wrong: Wrong,
): void {
  const { name, scheme, signingAlgorithms: algorithms } = method
  if (!isText(name) || !nameGrammar.test(name))
    wrong('.name', 'must be a name such as private_key_jwt, or an absolute URI.')
  else if (names.has(name)) wrong('.name', `is "${name}", which another method has already.`)
  else names.add(name)
  if (scheme !== undefined) checkScheme(scheme, schemes, wrong)
  // RFC 8414 2: methods with signed assertions say what may sign them, and `none` may not.
  if (algorithms === undefined ? signedMethods.has(name) : !isAlgorithms(algorithms))
    wrong('.signingAlgorithms', 'must list what signs the assertions, such as ES256; never none.')
  for (const field of ['read', 'verify'])
    if (typeof method[field] !== 'function') wrong(`.${field}`, 'must be a function.')
  if (!isAbsentOrFunction(method['mistakeIn'])) wrong('.mistakeIn', 'must be a function.')
}

function checkScheme(scheme: unknown, schemes: Set<string>, wrong: Wrong): void {
  if (!isText(scheme) || !schemeGrammar.test(scheme))
    wrong('.scheme', 'must be an HTTP authentication scheme, such as ApiKey: one word.')
  else if (schemes.has(scheme.toLowerCase()))
    wrong('.scheme', `is "${scheme}", which another method has already, in whatever case.`)
  else schemes.add(scheme.toLowerCase())
}

const isList = (value: unknown): value is readonly unknown[] => Array.isArray(value)
const isAlgorithms = (value: unknown) =>
  isTexts(value) && value.length > 0 && value.every((name) => name.toLowerCase() !== 'none')
const isAbsentOrFunction = (value: unknown) => value === undefined || typeof value === 'function'
const isMethod = (value: unknown): value is ClientAuthenticationMethod =>
  isRecord(value) && isText(value['name']) && isAbsentOrFunction(value['mistakeIn'])
