import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

const root = join(__dirname, '..')
const oxlint = join(root, 'node_modules/.bin/oxlint')

type Import = readonly [room: string, imported: string]

const refused: readonly Import[] = [
  ['protocol', '../authorization/commit'],
  ['protocol', '../express/query'],
  ['protocol', '../warning'],
  ['protocol', 'passport-http'],
  ['protocol', 'jose'],
  ['authorization', '@xmldom/xmldom'],
  ['authorization', '../token-endpoint/exchange'],
  ['authorization', '../express/query'],
  ['authorization', '../stores/memory-store'],
  ['authorization', 'ioredis'],
  ['token-types', '../protected-resource/admit'],
  ['stores', '../token-endpoint/exchange'],
  ['stores', '../settings'],
  ['client-authentication', '../authorization/commit'],
  ['client-authentication/methods', '../../passport/strategies'],
  ['client-authentication', 'passport'],
  ['client-authentication', 'bcrypt'],
  ['attempts', '../token-endpoint/grant-type'],
  ['attempts', '../authorization/circumstances'],
  ['attempts', '../secrets/bcrypt'],
  ['attempts', '../stores/memory-counters'],
  ['attempts', '../stores/authorization-store'],
  ['attempts', '../settings'],
  ['attempts', 'express'],
  ['attempts', 'express-rate-limit'],
  ['token-endpoint', 'express-rate-limit'],
  ['secrets', '../client-authentication/client-secret'],
  ['secrets', '../attempts/attempt'],
  ['secrets', '../stores/counters'],
  ['secrets', 'passport'],
  ['jwt', '../authorization/commit'],
  ['jwt', '../stores/authorization-store'],
  ['jwt', '../token-endpoint/exchange'],
  ['jwt', '../protected-resource/admit'],
  ['jwt', '../express/query'],
  ['jwt', '../settings'],
  ['jwt', 'bcrypt'],
  ['protocol', '../jwt/verify-jwt'],
  ['authorization', '../jwt/verify-jwt'],
  ['authorization-endpoint', '../jwt/verify-jwt'],
  ['introspection-endpoint', '../jwt/verify-jwt'],
  ['extensions', '../jwt/verify-jwt'],
  ['stores', '../jwt/verify-jwt'],
  ['lint', '../jwt/verify-jwt'],
  ['token-endpoint/grant-types/jwt-bearer', 'jose'],
  ['protected-resource', 'jose'],
  ['protected-resource', '../create-jwt-bearer-guard'],
  ['protocol', '../attempts/attempt'],
  ['protocol', '../secrets/bcrypt'],
  ['authorization', '../attempts/attempt'],
  ['stores', '../attempts/attempt'],
  ['authorization-endpoint', '../secrets/bcrypt'],
  ['protected-resource', '../attempts/attempt'],
  ['extensions', '../attempts/attempt'],
  ['token-endpoint/grant-types/password', 'bcrypt'],
  ['authorization-endpoint', '../token-endpoint/exchange'],
  ['authorization-endpoint', '../express/query'],
  ['authorization-endpoint/response-types', '../../token-endpoint/exchange'],
  ['token-endpoint', '../authorization-endpoint/authorize'],
  ['token-endpoint/grant-types', '../../stores/redis-store'],
  ['token-endpoint', 'express'],
  ['protected-resource', '../token-endpoint/exchange'],
  ['extensions', '../token-endpoint/exchange'],
  ['token-endpoint', '../registration/register-client'],
  ['stores', '../registration/register-client'],
  ['registration', '../stores/redis-clients'],
  ['registration', '../stores/memory-clients'],
  ['registration', '../client-authentication/secret-verifier'],
  ['registration', '../authorization/commit'],
  ['registration', '../command-line/run'],
  ['registration', '../settings'],
  ['command-line', '../express/query'],
  ['command-line', '../authorization-server'],
  ['command-line', 'ioredis'],
  ['lint', '../authorization-server'],
  ['lint', '../wiring'],
  ['lint', '../stores/redis-store'],
  ['lint', '../express/router'],
  ['lint', '../command-line/run'],
  ['lint', 'ioredis'],
  ['.', './lint/lint'],
  ['express', '../lint/lint'],
  ['registration', '../lint/lint'],
  ['testing', '../lint/lint'],
  ['protocol', '../lint/lint'],
  ['extensions', '../authorization/authorization'],
  ['testing', '../token-endpoint/exchange'],
  ['testing', '../express/reports'],
  ['testing', '../wire-minting'],
  ['testing/authorization-store', '../../stores/memory-store'],
  ['testing/authorization-store', '../../stores/redis-store'],
  ['testing', '../index'],
  ['testing', 'vitest'],
  ['testing', 'ioredis'],
  ['.', './testing/contract'],
  ['express', '../testing/contract'],
  ['passport', '../testing/contract'],
  ['stores', '../testing/contract'],
  ['protocol', '../testing/same'],
]

const allowed: readonly Import[] = [
  ['protocol', './scope'],
  ['authorization', '../protocol/scope'],
  ['authorization', '../stores/authorization-store'],
  ['token-types', '../authorization/issue'],
  ['stores', '../authorization/decode-authorization'],
  ['client-authentication', '../secrets/bcrypt'],
  ['client-authentication', '../attempts/attempt'],
  ['attempts', '../protocol/oauth-error'],
  ['attempts', '../stores/counters'],
  ['secrets', 'bcrypt'],
  ['jwt', '../protocol/configuration'],
  ['jwt', 'jose'],
  ['token-endpoint/grant-types/jwt-bearer', '../../../jwt/verify-jwt'],
  ['protected-resource', '../jwt/verify-jwt'],
  ['authorization-endpoint', '../authorization/commit'],
  ['token-endpoint/grant-types', '../grant-type'],
  ['token-endpoint/grant-types', '../../authorization/redeem-code'],
  ['token-endpoint/grant-types/password', '../../../attempts/attempt'],
  ['token-endpoint/grant-types/password', '../../../secrets/bcrypt'],
  ['extensions', '../protocol/extension'],
  ['registration', '../protocol/parse-client'],
  ['registration', '../client-authentication/client-secret'],
  ['registration', '../stores/client-registry'],
  ['command-line', '../registration/register-client'],
  ['command-line', '../stores/redis-store'],
  ['command-line', '../lint/lint'],
  ['lint', '../settings'],
  ['lint', '../resolve-options'],
  ['lint', '../protocol/client'],
  ['lint', '../secrets/bcrypt'],
  ['express', '../token-endpoint/exchange'],
  ['testing/authorization-store', '../../authorization/commit'],
  ['testing/authorization-store', '../../stores/authorization-store'],
  ['testing', '../protocol/configuration'],
  ['testing', '../testing-door'],
  ['testing', 'node:assert/strict'],
  ['.', './settings'],
]

// All of them at once: the linter takes longer to start than to look.
const planted = [...refused, ...allowed]
const fileOf = ([room]: Import, at: number) => join('lib', room, `planted-${at}.ts`)

let findings: string
beforeAll(() => {
  const house = mkdtempSync(join(tmpdir(), 'dependency-rule-'))
  cpSync(join(root, '.oxlintrc.json'), join(house, '.oxlintrc.json'))
  planted.forEach((one, at) => {
    const file = join(house, fileOf(one, at))
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, `export { planted } from '${one[1]}'\n`)
  })
  findings = spawnSync(oxlint, ['--format=unix', 'lib'], { cwd: house, encoding: 'utf8' }).stdout
  rmSync(house, { recursive: true })
})

/** Whether the linter lets a file of this room import that. */
function allows(room: string, imported: string): boolean {
  const place = `${planted.findIndex((one) => one[0] === room && one[1] === imported)}.ts:`
  return !findings
    .split('\n')
    .some((line) => line.includes(`planted-${place}`) && line.includes('no-restricted-imports'))
}

describe('the linter holds the rooms to the dependency rule', () => {
  test.each(refused)('%s may not import %s', (room, imported) => {
    expect(allows(room, imported)).toBe(false)
  })

  test.each(allowed)('%s may import %s', (room, imported) => {
    expect(allows(room, imported)).toBe(true)
  })
})
