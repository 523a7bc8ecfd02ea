import { html } from '../html'
import type { PageTexts } from './texts'

export const fr: PageTexts = {
  common: {
    signedInAs: 'Connecté en tant que',
    returnsTo: 'Retour vers',
    appOnDevice: (scheme) => `une application de cet appareil (${scheme})`,
    noAccess: 'Aucun accès n’a été accordé.',
  },
  consent: {
    title: (client) => html`Autoriser ${client} à accéder à votre compte ?`,
    request: 'souhaite accéder à votre compte',
    requestAt: (service) => html`souhaite accéder à votre compte ${service}`,
    notYou: 'Ce n’est pas vous ?',
    unverifiedMark: 'Non vérifiée',
    origin: (host) => html`une application de ${host}`,
    notRegistered: 'Cette application n’est pas enregistrée ici.',
    selfRegistered: 'Cette application s’est enregistrée ici elle-même.',
    ownClaim: 'Elle a choisi son nom elle-même.',
    certain: (host) => html`La seule certitude est que ${host} la décrit.`,
    deviceTitle: 'L’accès est remis à un programme de cet appareil.',
    device: 'Annulez si vous ne venez pas de le lancer vous-même.',
    appTitle: 'L’accès est remis à une application de cet appareil.',
    app: 'Une autre application pourrait prendre sa place. Annulez si vous ne venez pas de la lancer vous-même.',
    permissions: 'Elle pourra',
    noPermission: 'Elle ne demande aucune autorisation particulière.',
    dangerous: 'Réfléchissez bien avant d’autoriser ceci',
    allowedBefore: 'Vous avez déjà autorisé ceci',
    dangerMark: 'Portée étendue',
    writeMark: 'Apporte des modifications',
    optional:
      'Vous pouvez laisser de côté ce qui a une case : l’application n’obtient que ce que vous cochez.',
    choose: 'Veuillez choisir',
    obstacle: 'Vous ne pouvez pas autoriser cet accès pour le moment.',
    noAnswer: 'Vous n’avez rien ici à quoi cette application pourrait accéder.',
    manage: (link) => html`Vous pouvez mettre fin à cet accès à tout moment, dans ${link}.`,
    manageLink: 'Applications connectées',
    facts: { resource: 'Accès à', claims: 'À propos de vous' },
    policy: 'Politique de confidentialité',
    terms: 'Conditions d’utilisation',
    cancel: 'Annuler',
    allow: 'Autoriser',
  },
  error: {
    refusedTitle: 'Cette demande ne peut pas continuer',
    troubleTitle: 'Ce n’est pas possible pour le moment',
    nothingShared: 'Rien n’a été partagé.',
    reference: 'Référence',
    details: 'Détails pour les auteurs de l’application :',
    backTo: (client) => html`Retour vers ${client}`,
    explanations: {
      requestOver: {
        happened: 'Cette page est trop ancienne, ou vous y avez déjà répondu.',
        advice: 'Retournez dans l’application et recommencez.',
      },
      anotherAccount: {
        happened: 'Cette question s’adressait à un autre compte que celui qui est connecté maintenant.',
        advice: 'Retournez dans l’application et recommencez avec le compte que vous souhaitez utiliser.',
      },
      notSignedIn: {
        happened: 'Vous n’êtes plus connecté.',
        advice: 'Retournez dans l’application et recommencez. Vous pourrez alors vous connecter.',
      },
      loginLost: {
        happened: 'Votre connexion n’est pas parvenue à cette page.',
        advice: 'Autorisez les cookies pour ce site, puis retournez dans l’application et recommencez.',
      },
      appFault: {
        happened: 'L’application a envoyé une demande incorrecte. Vous n’avez rien fait de mal.',
        advice: 'Signalez-le aux auteurs de l’application. Vous pouvez fermer cette page.',
      },
      appUnknown: {
        happened: 'L’application n’est pas connue ici, ou elle est bloquée.',
        advice: 'Si vous lui faites confiance, signalez-le à ses auteurs. Sinon, fermez cette page.',
      },
      appUnreachable: {
        happened:
          'Ce que l’application dit d’elle-même n’a pas pu être lu : elle n’a donc pas pu être vérifiée.',
        advice:
          'Réessayez dans quelques minutes. Si cela se reproduit, signalez-le aux auteurs de l’application.',
      },
      tooMany: {
        happened: 'Il y a eu trop de tentatives en peu de temps.',
        advice: 'Attendez quelques minutes, puis rechargez cette page.',
      },
      tooManyApps: {
        happened: 'Votre compte donne déjà accès à autant d’applications non enregistrées qu’il le peut.',
        advice: 'Supprimez-en une que vous n’utilisez plus. Revenez ensuite à l’application et recommencez.',
      },
      unavailable: {
        happened: 'Quelque chose ne fonctionne pas ici pour le moment.',
        advice: 'Attendez un instant, puis rechargez cette page.',
      },
      otherSite: {
        happened: 'Cette réponse vient d’un autre site, et non de la page qui vous a posé la question.',
        advice:
          'Fermez cette page. Si vous vouliez autoriser un accès, retournez dans l’application et recommencez.',
      },
      incompleteForm: {
        happened: 'Votre réponse n’est pas arrivée comme la page l’attendait.',
        advice: 'Revenez à la page précédente et répondez de nouveau.',
      },
      unprotected: {
        happened: 'La connexion à cette page n’est pas chiffrée.',
        advice: 'Fermez cette page. Signalez-le aux responsables de ce site.',
      },
      other: {
        happened: 'La demande ne peut pas être exécutée.',
        advice:
          'Retournez dans l’application et réessayez. Si cela se reproduit, signalez-le aux auteurs de l’application.',
      },
    },
  },
  logout: {
    title: 'Se déconnecter ?',
    loggedInAs: (owner) => html`Vous êtes connecté en tant que ${owner}.`,
    asks: (client) => html`${client} demande à vous déconnecter.`,
    stay: 'Rester connecté',
    logOut: 'Se déconnecter',
    doneTitle: 'Vous êtes déconnecté',
    done: 'Vous pouvez fermer cette page.',
    stayedTitle: 'Vous êtes toujours connecté',
    stayed: 'Rien n’a changé.',
    backTo: (client) => html`Retour vers ${client}`,
  },
  connected: {
    title: 'Applications connectées',
    intro: 'Ces applications peuvent accéder à votre compte. Supprimez celles que vous n’utilisez plus.',
    none: 'Aucune application ne peut accéder à votre compte.',
    permissions: 'Elle peut',
    since: (day) => html`Autorisée le ${day}`,
    lastIssued: (day) => html`Dernier renouvellement le ${day}`,
    remove: 'Supprimer',
    removeClient: (client) => html`Supprimer ${client}`,
    removeTitle: (client) => html`Supprimer l’accès de ${client} ?`,
    removeConsequence:
      'L’application devra alors vous demander de nouveau. Ce qu’elle a déjà lu ou modifié reste tel quel.',
    keep: 'Conserver',
    removed: (client) => html`L’accès de ${client} est supprimé.`,
    soon: 'Il peut s’écouler un court moment avant que chaque service en tienne compte.',
    incomplete:
      'Il peut manquer dans cette liste des applications que vous avez autorisées il y a quelque temps. Elles y apparaissent au prochain renouvellement de leur accès.',
    previous: 'Retour',
    next: 'Suite',
  },
  device: {
    title: 'Connecter un appareil',
    intro: 'Saisissez le code affiché par votre appareil.',
    fromLink:
      'Ce code vient d’un lien. Ne continuez que si votre propre appareil affiche maintenant le même code.',
    code: 'Code de l’appareil',
    next: 'Continuer',
    unknown:
      'Ce code est inconnu ici, a expiré ou a déjà été utilisé. Comparez-le avec votre appareil, ou recommencez depuis celui-ci.',
    tooMany: 'Il y a eu trop de codes erronés. Attendez quelques minutes, puis réessayez.',
    warningTitle: 'Quelqu’un vous a-t-il envoyé ce code ou ce lien ?',
    warning:
      'Alors arrêtez-vous ici : cette personne veut accéder à votre compte. Ne continuez qu’avec le code d’un appareil qui se trouve devant vous et que vous venez de lancer vous-même.',
    request: 'souhaite accéder à votre compte depuis un autre appareil',
    requestedFrom: 'Demande venant de',
    requestedAt: 'Demande faite',
    approvedTitle: 'Votre appareil a accès',
    approved: (client) => html`Retournez à votre appareil : ${client} y continue.`,
    deniedTitle: 'L’appareil n’a reçu aucun accès',
    denied: 'Vous pouvez fermer cette page.',
  },
  answered: {
    title: 'Vous avez déjà autorisé l’accès',
    done: (client) => html`C’est fait. Retournez vers ${client} pour continuer.`,
    lost: 'Si l’application demande de nouveau l’accès, votre réponse s’est perdue en route : autorisez-le encore une fois.',
    goTo: (host) => html`Aller vers ${host}`,
  },
  continue: {
    approvedTitle: 'Vous avez autorisé l’accès',
    refusedTitle: 'Aucun accès n’a été accordé',
    oneStep: (destination) => html`Il reste une étape : retournez vers ${destination}.`,
    continue: 'Continuer',
    linkIsYours: 'Ce lien n’est que pour vous : il contient l’accès que vous avez accordé.',
  },
  insecureRedirect: {
    title: 'Le chemin du retour n’est pas protégé',
    unprotected:
      'L’application d’où vous venez utilise une connexion sans chiffrement. D’autres personnes sur le réseau peuvent lire et modifier ce que vous y envoyez.',
    unprotectedAccess:
      'L’application d’où vous venez utilise une connexion sans chiffrement. D’autres personnes sur le réseau peuvent lire et modifier ce que vous y envoyez, et pourraient utiliser l’accès que vous venez d’accorder.',
    nothingSent: 'Rien n’a encore été envoyé.',
    stopAccess: 'Pour vous arrêter ici, fermez cette page : l’application n’obtient alors aucun accès.',
    stop: 'Pour vous arrêter ici, fermez cette page : l’application n’apprend alors rien.',
    continue: 'Continuer sans protection',
  },
  unverified: {
    notChecked: 'Elle vient d’une application que personne ici n’a vérifiée.',
    trouble: 'Quelque chose ne fonctionne pas ici pour le moment.',
    tryAgain: 'Attendez un instant, puis rechargez cette page pour réessayer.',
    careful:
      'N’y retournez que si vous en venez à l’instant. Sinon, fermez cette page : quelqu’un pourrait vouloir vous y attirer.',
    goBack: 'Retourner à l’application',
  },
}
