import { existsSync } from 'node:fs'
import { installDebianPackages } from '../support/debian-package'
import type { Surroundings } from '../support/program'

const packages = [
  ['/usr/share/fonts/truetype/noto', 'fonts-noto-core'],
  ['/usr/share/fonts/opentype/noto', 'fonts-noto-cjk'],
] as const

/** Installs the fonts in which Chromium shows Arabic and Japanese. Without root, their letters are boxes. */
export function installMissingFonts({ environment, isRoot }: Surroundings): void {
  const missing = packages.filter(([folder]) => !existsSync(folder)).map(([, name]) => name)
  if (missing.length > 0 && isRoot) installDebianPackages('apt-get', missing, environment)
}
