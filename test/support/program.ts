import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, resolve } from 'node:path'
import { installDebianPackages } from './debian-package'

export interface Program {
  variable: string
  names: readonly string[]
  packages: readonly string[]
  missing: string
}

export interface Surroundings {
  environment: NodeJS.ProcessEnv
  isRoot: boolean
}

export const redisProgram: Program = {
  variable: 'REDIS_SERVER',
  names: ['redis-server', 'valkey-server'],
  packages: ['redis-server'],
  missing:
    'The tests need Redis: set REDIS_URL to a running server, set REDIS_SERVER to the path of a server program, ' +
    'put redis-server or valkey-server on the PATH, or run as root on Debian, where it is installed with apt-get.',
}

export const chromiumProgram: Program = {
  variable: 'CHROMIUM',
  names: ['chromium', 'chromium-browser', 'google-chrome'],
  packages: ['chromium', 'fonts-dejavu-core'],
  missing:
    'The tests need Chromium: set CHROMIUM to the path of the browser, ' +
    'put chromium, chromium-browser or google-chrome on the PATH, ' +
    'or run as root on Debian, where it is installed with apt-get.',
}

export function findProgram(program: Program, environment: NodeJS.ProcessEnv): string | undefined {
  const named = environment[program.variable]
  if (!named) return findOnPath(program.names, environment)
  if (isExecutable(named)) return resolve(named)
  // Falling back to another program would hide the typing error.
  throw new Error(`${program.variable} is set to "${named}", which is not a program that can be run.`)
}

export function requireProgram(program: Program, environment = process.env): string {
  const path = findProgram(program, environment)
  if (path === undefined) throw new Error(program.missing)
  return path
}

export function findOrInstallProgram(program: Program, { environment, isRoot }: Surroundings): string {
  const present = findProgram(program, environment)
  if (present !== undefined) return present
  const aptGet = isRoot ? findOnPath(['apt-get'], environment) : undefined
  if (aptGet !== undefined) installDebianPackages(aptGet, program.packages, environment)
  return requireProgram(program, environment)
}

function findOnPath(names: readonly string[], environment: NodeJS.ProcessEnv): string | undefined {
  const directories = (environment['PATH'] ?? '').split(delimiter).filter((directory) => directory !== '')
  return names
    .flatMap((name) => directories.map((directory) => resolve(directory, name)))
    .find((path) => isExecutable(path))
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}
