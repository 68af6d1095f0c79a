/* How the parts of the dialogue viewer name things. */
"use strict";

const HUMAN = 0; // the place of the human dialogues among the models
const protocolTitles = Object.create(null); // filled from the index

const protocolName = (protocol) => protocolTitles[protocol] ?? protocol;
const atLength = (n) => ` at N\u00a0=\u00a0${n}`;
