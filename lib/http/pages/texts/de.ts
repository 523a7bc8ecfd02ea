import { html } from '../html'
import type { PageTexts } from './texts'

export const de: PageTexts = {
  common: {
    signedInAs: 'Angemeldet als',
    returnsTo: 'Führt zurück zu',
    appOnDevice: (scheme) => `einer App auf diesem Gerät (${scheme})`,
    noAccess: 'Es wurde kein Zugriff erteilt.',
  },
  consent: {
    title: (client) => html`${client} den Zugriff auf Ihr Konto erlauben?`,
    request: 'möchte auf Ihr Konto zugreifen',
    requestAt: (service) => html`möchte auf Ihr Konto bei ${service} zugreifen`,
    notYou: 'Nicht Sie?',
    unverifiedMark: 'Nicht geprüft',
    origin: (host) => html`eine App von ${host}`,
    notRegistered: 'Diese App ist hier nicht registriert.',
    selfRegistered: 'Diese App hat sich hier selbst registriert.',
    ownClaim: 'Ihr Name ist ihre eigene Angabe.',
    certain: (host) => html`Sicher ist nur, dass ${host} sie beschreibt.`,
    deviceTitle: 'Der Zugriff geht an ein Programm auf diesem Gerät.',
    device: 'Brechen Sie ab, wenn Sie es nicht gerade selbst gestartet haben.',
    appTitle: 'Der Zugriff geht an eine App auf diesem Gerät.',
    app: 'Eine andere App könnte ihren Platz einnehmen. Brechen Sie ab, wenn Sie die App nicht gerade selbst gestartet haben.',
    permissions: 'Sie erlauben der App',
    noPermission: 'Die App bittet um keine besondere Berechtigung.',
    dangerous: 'Überlegen Sie gut, bevor Sie dies erlauben',
    allowedBefore: 'Dies haben Sie schon erlaubt',
    dangerMark: 'Weitreichend',
    writeMark: 'Ändert etwas',
    optional: 'Was ein Kästchen hat, können Sie weglassen: Die App bekommt nur, was Sie ankreuzen.',
    choose: 'Bitte wählen',
    obstacle: 'Sie können dies zurzeit nicht erlauben.',
    noAnswer: 'Sie haben hier nichts, worauf diese App Zugriff erhalten könnte.',
    manage: (link) => html`Sie können den Zugriff jederzeit beenden, unter ${link}.`,
    manageLink: 'Verbundene Apps',
    facts: { resource: 'Zugriff auf', claims: 'Angaben über Sie' },
    policy: 'Datenschutzerklärung',
    terms: 'Nutzungsbedingungen',
    cancel: 'Abbrechen',
    allow: 'Erlauben',
  },
  error: {
    refusedTitle: 'Diese Anfrage kann nicht fortgesetzt werden',
    troubleTitle: 'Das ist gerade nicht möglich',
    nothingShared: 'Es wurde nichts weitergegeben.',
    reference: 'Kennung',
    details: 'Einzelheiten für die Hersteller der App:',
    backTo: (client) => html`Zurück zu ${client}`,
    explanations: {
      requestOver: {
        happened: 'Diese Seite ist zu alt oder wurde schon beantwortet.',
        advice: 'Gehen Sie zurück zur App und beginnen Sie dort noch einmal.',
      },
      anotherAccount: {
        happened: 'Diese Frage galt einem anderen Konto als dem, das jetzt angemeldet ist.',
        advice:
          'Gehen Sie zurück zur App und beginnen Sie dort noch einmal, mit dem Konto, das Sie verwenden möchten.',
      },
      notSignedIn: {
        happened: 'Sie sind nicht mehr angemeldet.',
        advice: 'Gehen Sie zurück zur App und beginnen Sie dort noch einmal. Dann können Sie sich anmelden.',
      },
      loginLost: {
        happened: 'Ihre Anmeldung ist auf dieser Seite nicht angekommen.',
        advice:
          'Erlauben Sie Cookies für diese Website. Gehen Sie dann zurück zur App und beginnen Sie dort noch einmal.',
      },
      appFault: {
        happened: 'Die App hat eine fehlerhafte Anfrage gesendet. Sie haben nichts falsch gemacht.',
        advice: 'Melden Sie dies den Herstellern der App. Sie können diese Seite schließen.',
      },
      appUnknown: {
        happened: 'Die App ist hier nicht bekannt oder gesperrt.',
        advice:
          'Wenn Sie der App vertrauen, melden Sie dies ihren Herstellern. Schließen Sie sonst diese Seite.',
      },
      appUnreachable: {
        happened:
          'Die Angaben der App über sich selbst waren nicht lesbar, deshalb ließ sie sich nicht prüfen.',
        advice:
          'Versuchen Sie es in einigen Minuten noch einmal. Geschieht es wieder, melden Sie es den Herstellern der App.',
      },
      tooMany: {
        happened: 'Es gab zu viele Versuche in kurzer Zeit.',
        advice: 'Warten Sie einige Minuten und laden Sie diese Seite dann neu.',
      },
      tooManyApps: {
        happened: 'Ihr Konto gewährt schon so vielen nicht registrierten Apps Zugriff, wie es darf.',
        advice:
          'Entfernen Sie eine, die Sie nicht mehr verwenden. Gehen Sie dann zurück zur App und beginnen Sie dort noch einmal.',
      },
      unavailable: {
        happened: 'Hier funktioniert zurzeit etwas nicht.',
        advice: 'Warten Sie einen Moment und laden Sie diese Seite dann neu.',
      },
      otherSite: {
        happened: 'Diese Antwort kam von einer anderen Website und nicht von der Seite, die Sie gefragt hat.',
        advice:
          'Schließen Sie diese Seite. Wenn Sie einen Zugriff erlauben wollten, gehen Sie zurück zur App und beginnen Sie dort noch einmal.',
      },
      incompleteForm: {
        happened: 'Ihre Antwort ist nicht so angekommen, wie die Seite sie erwartet hat.',
        advice: 'Gehen Sie zurück zur vorigen Seite und antworten Sie noch einmal.',
      },
      unprotected: {
        happened: 'Die Verbindung zu dieser Seite ist nicht verschlüsselt.',
        advice: 'Schließen Sie diese Seite. Melden Sie dies den Betreibern der Website.',
      },
      other: {
        happened: 'Die Anfrage kann nicht ausgeführt werden.',
        advice:
          'Gehen Sie zurück zur App und versuchen Sie es noch einmal. Geschieht es wieder, melden Sie es den Herstellern der App.',
      },
    },
  },
  logout: {
    title: 'Abmelden?',
    loggedInAs: (owner) => html`Sie sind angemeldet als ${owner}.`,
    asks: (client) => html`${client} möchte Sie abmelden.`,
    stay: 'Angemeldet bleiben',
    logOut: 'Abmelden',
    doneTitle: 'Sie sind abgemeldet',
    done: 'Sie können diese Seite schließen.',
    stayedTitle: 'Sie sind weiterhin angemeldet',
    stayed: 'Es hat sich nichts geändert.',
    backTo: (client) => html`Zurück zu ${client}`,
  },
  connected: {
    title: 'Verbundene Apps',
    intro: 'Diese Apps können auf Ihr Konto zugreifen. Entfernen Sie die, die Sie nicht mehr verwenden.',
    none: 'Keine App kann auf Ihr Konto zugreifen.',
    permissions: 'Sie haben der App erlaubt',
    since: (day) => html`Erlaubt am ${day}`,
    lastIssued: (day) => html`Zuletzt erneuert am ${day}`,
    remove: 'Entfernen',
    removeClient: (client) => html`${client} entfernen`,
    removeTitle: (client) => html`Den Zugriff von ${client} entfernen?`,
    removeConsequence:
      'Die App muss Sie dann neu fragen. Was sie schon gelesen oder geändert hat, bleibt, wie es ist.',
    keep: 'Behalten',
    removed: (client) => html`Der Zugriff von ${client} ist entfernt.`,
    soon: 'Es kann eine kurze Zeit dauern, bis jeder Dienst dies bemerkt.',
    incomplete:
      'In dieser Liste können Apps fehlen, die Sie vor längerer Zeit erlaubt haben. Sie erscheinen, wenn sie ihren Zugriff das nächste Mal erneuern.',
    previous: 'Zurück',
    next: 'Mehr',
  },
  device: {
    title: 'Ein Gerät verbinden',
    intro: 'Geben Sie den Code ein, den Ihr Gerät anzeigt.',
    fromLink:
      'Ein Link hat diesen Code mitgebracht. Fahren Sie nur fort, wenn Ihr eigenes Gerät jetzt denselben Code anzeigt.',
    code: 'Code des Geräts',
    next: 'Weiter',
    unknown:
      'Dieser Code ist hier nicht bekannt, abgelaufen oder schon verwendet. Vergleichen Sie ihn mit Ihrem Gerät oder beginnen Sie dort noch einmal.',
    tooMany:
      'Es gab zu viele falsche Codes. Warten Sie einige Minuten und versuchen Sie es dann noch einmal.',
    warningTitle: 'Hat Ihnen jemand diesen Code oder Link geschickt?',
    warning:
      'Dann hören Sie hier auf: Diese Person will Zugriff auf Ihr Konto. Fahren Sie nur mit dem Code eines Geräts fort, das vor Ihnen steht und das Sie gerade selbst gestartet haben.',
    request: 'möchte von einem anderen Gerät auf Ihr Konto zugreifen',
    requestedFrom: 'Angefragt von',
    requestedAt: 'Angefragt',
    approvedTitle: 'Ihr Gerät hat Zugriff',
    approved: (client) => html`Gehen Sie zurück zu Ihrem Gerät: ${client} macht dort weiter.`,
    deniedTitle: 'Das Gerät hat keinen Zugriff bekommen',
    denied: 'Sie können diese Seite schließen.',
  },
  answered: {
    title: 'Sie haben den Zugriff schon erlaubt',
    done: (client) => html`Das ist erledigt. Gehen Sie zurück zu ${client}, um fortzufahren.`,
    lost: 'Wenn die App noch einmal um Zugriff bittet, ging Ihre Antwort unterwegs verloren: Erlauben Sie ihn dann erneut.',
    goTo: (host) => html`Weiter zu ${host}`,
  },
  continue: {
    approvedTitle: 'Sie haben den Zugriff erlaubt',
    refusedTitle: 'Es wurde kein Zugriff erteilt',
    oneStep: (destination) => html`Ein Schritt fehlt noch: Gehen Sie zurück zu ${destination}.`,
    continue: 'Weiter',
    linkIsYours: 'Der Link ist nur für Sie: Er enthält den Zugriff, den Sie erlaubt haben.',
  },
  insecureRedirect: {
    title: 'Der Rückweg ist nicht geschützt',
    unprotected:
      'Die App, von der Sie kommen, ist nur über eine unverschlüsselte Verbindung erreichbar. Andere im Netzwerk können lesen und ändern, was Sie dorthin senden.',
    unprotectedAccess:
      'Die App, von der Sie kommen, ist nur über eine unverschlüsselte Verbindung erreichbar. Andere im Netzwerk können lesen und ändern, was Sie dorthin senden, und könnten den Zugriff nutzen, den Sie gerade erlaubt haben.',
    nothingSent: 'Es wurde noch nichts gesendet.',
    stopAccess: 'Um hier aufzuhören, schließen Sie diese Seite: Die App bekommt dann keinen Zugriff.',
    stop: 'Um hier aufzuhören, schließen Sie diese Seite: Die App erfährt dann nichts.',
    continue: 'Ohne Schutz fortfahren',
  },
  unverified: {
    notChecked: 'Sie kam von einer App, die hier niemand geprüft hat.',
    trouble: 'Hier funktioniert zurzeit etwas nicht.',
    tryAgain: 'Warten Sie einen Moment und laden Sie diese Seite dann neu.',
    careful:
      'Gehen Sie nur zurück, wenn Sie gerade von dort kommen. Schließen Sie sonst diese Seite: Jemand könnte Sie dorthin locken wollen.',
    goBack: 'Zurück zur App',
  },
}
