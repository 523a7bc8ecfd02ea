import {
  apacheProgram,
  chromiumProgram,
  findOrInstallProgram,
  findProgram,
  nginxProgram,
  postgresProgram,
  pythonProgram,
  redisProgram,
} from '../../support/program'

const nowhere = { environment: { PATH: '' }, isRoot: false }

describe('a program that the tests need', () => {
  test('its absence gives one sentence that names every way to provide Redis', () => {
    expect(() => findOrInstallProgram(redisProgram, nowhere)).toThrow(
      /^The tests need Redis: [^.\n]*REDIS_URL[^.\n]*REDIS_SERVER[^.\n]*redis-server or valkey-server on the PATH[^.\n]*root on Debian[^.\n]*\.$/,
    )
  })

  test('its absence gives one sentence that names every way to provide Chromium', () => {
    expect(() => findOrInstallProgram(chromiumProgram, nowhere)).toThrow(
      /^The tests need Chromium: [^.\n]*CHROMIUM[^.\n]*chromium, chromium-browser or google-chrome on the PATH[^.\n]*root on Debian[^.\n]*\.$/,
    )
  })

  test('its absence gives one sentence that names every way to provide PostgreSQL', () => {
    const elsewhere = { ...postgresProgram, directories: () => [] }
    expect(() => findOrInstallProgram(elsewhere, nowhere)).toThrow(
      /^The tests need PostgreSQL: [^.\n]*POSTGRES_SERVER[^.\n]*postgres on the PATH[^.\n]*root on Debian[^.\n]*\.$/,
    )
  })

  test('its absence gives one sentence that names every way to provide Apache', () => {
    const elsewhere = { ...apacheProgram, directories: () => [] }
    expect(() => findOrInstallProgram(elsewhere, nowhere)).toThrow(
      /^The tests need Apache with mod_auth_openidc: [^.\n]*APACHE[^.\n]*apache2 on the PATH[^.\n]*root on Debian[^.\n]*\.$/,
    )
  })

  test('its absence gives one sentence that names every way to provide nginx', () => {
    const elsewhere = { ...nginxProgram, directories: () => [] }
    expect(() => findOrInstallProgram(elsewhere, nowhere)).toThrow(
      /^The tests need nginx: [^.\n]*NGINX[^.\n]*nginx on the PATH[^.\n]*root on Debian[^.\n]*\.$/,
    )
  })

  test('its absence gives one sentence that names every way to provide Python', () => {
    const elsewhere = { ...pythonProgram, directories: () => [] }
    expect(() => findOrInstallProgram(elsewhere, nowhere)).toThrow(
      /^The tests need Python [^.\n]*PyJWT, cryptography and oauthlib: [^.\n]*PYTHON[^.\n]*PATH[^.\n]*root on Debian[^.\n]*\.$/,
    )
  })

  test('a program that lacks what the tests need is passed over', () => {
    const unfit = { ...pythonProgram, isFit: (path: string) => !path.startsWith('/usr/bin/') }
    expect(findProgram(pythonProgram, nowhere.environment)).toBe('/usr/bin/python3')
    expect(findProgram(unfit, nowhere.environment)).toBeUndefined()
  })

  test('it is found where Debian puts it, though that is not on the PATH', () => {
    expect(findProgram(postgresProgram, nowhere.environment)).toMatch(/\/postgres$/)
  })

  test('root without apt-get gets the same', () => {
    expect(() => findOrInstallProgram(redisProgram, { ...nowhere, isRoot: true })).toThrow(
      redisProgram.missing,
    )
  })

  test('the named path goes before the PATH', () => {
    expect(findProgram(redisProgram, { ...process.env, REDIS_SERVER: process.execPath })).toBe(
      process.execPath,
    )
  })

  test.each([
    ['does not exist', '/nowhere/redis-server'],
    ['may not be run', __filename],
    ['is a directory', __dirname],
  ])('a named path that %s is an error', (_, path) => {
    expect(() => findProgram(redisProgram, { ...process.env, REDIS_SERVER: path })).toThrow(
      `REDIS_SERVER is set to "${path}", which is not a program that can be run.`,
    )
  })
})
