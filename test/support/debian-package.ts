import { spawnSync } from 'node:child_process'

export function installDebianPackages(
  aptGet: string,
  packages: readonly string[],
  environment: NodeJS.ProcessEnv,
): void {
  run(aptGet, ['update'], environment)
  run(aptGet, ['install', '-y', '--no-install-recommends', ...packages], environment)
}

function run(aptGet: string, words: string[], environment: NodeJS.ProcessEnv): void {
  const { status, error, stdout, stderr } = spawnSync(aptGet, words, {
    env: { ...environment, DEBIAN_FRONTEND: 'noninteractive' },
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
    maxBuffer: Infinity,
  })
  if (status !== 0) {
    throw new Error(`apt-get ${words.join(' ')} failed:\n${stdout}${stderr}`, { cause: error })
  }
}
